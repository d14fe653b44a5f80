"""Python objects through a socket: their length, then their bytes."""

from __future__ import annotations

import pickle
import socket
import struct

LENGTH = struct.Struct("!Q")


def send(sock: socket.socket, message: object) -> None:
    """Send an object that pickle can write."""
    data = pickle.dumps(message)
    sock.sendall(LENGTH.pack(len(data)) + data)


def receive(sock: socket.socket):
    """The next object, or None if the other side has hung up."""
    head = _exactly(sock, LENGTH.size)
    body = _exactly(sock, LENGTH.unpack(head)[0]) if head else None
    return pickle.loads(body) if body else None


def _exactly(sock: socket.socket, size: int) -> bytes | None:
    parts = []
    while size:
        try:
            part = sock.recv(min(size, 1 << 20))
        except ConnectionResetError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
