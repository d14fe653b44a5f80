"""Bytes that this process has sent over TCP, by the kernel's own count (Linux)."""

from __future__ import annotations

import os
import socket
import struct
import sys

# struct tcp_info of linux/tcp.h: 64-bit counters, at fixed offsets since Linux 4.19
SENT, SENT_AGAIN = 200, 208
SIZE = 256


def peers_sent() -> dict[tuple[int, int], int]:
    """For each TCP connection of this process, by its own and its peer's port, the payload bytes sent on it.

    Retransmitted bytes count once. Raises OSError where the kernel has no such counters (macOS).
    """
    if not sys.platform.startswith("linux"):
        raise OSError("only Linux counts the bytes of a connection; the stored output shows what to expect")
    found = {}
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            if not os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(descriptor))) as sock:
                if sock.family in (socket.AF_INET, socket.AF_INET6) and sock.type == socket.SOCK_STREAM:
                    ports = sock.getsockname()[1], sock.getpeername()[1]
                    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, SIZE)
                    sent, again = struct.unpack_from("=Q", info, SENT)[0], struct.unpack_from("=Q", info, SENT_AGAIN)[0]
                    found[ports] = sent - again
        except (FileNotFoundError, OSError):  # closed meanwhile, or a socket that listens
            continue
    return found


def bytes_sent() -> int:
    """The payload bytes that this process has sent over TCP in all."""
    return sum(peers_sent().values())
