"""One GPU: products and sums counted element by element, clocks and queues that run step by step."""

import random

from formulas.harness import checks, close
from support.reference_machines import bisected, counted, pipeline, product, transfer, vector_sum

from gpuscale.schedules.timelines import requests

# Counting


@checks(
    "matmul_ops",
    "matmul_bytes",
    "matmul_intensity",
    "arithmetic_intensity",
    "matmul_math_time",
    "matmul_memory_time",
    "matmul_time",
)
def a_product_counted_element_by_element(lib):
    for shape in ((1, 1, 1), (2, 3, 4), (5, 2, 3), (1, 7, 2), (4, 4, 1)):
        b, d, f = shape
        for width, weight in ((2, 2), (2, 1), (4, 0.5)):
            (left, right, out), ops, moved = product(*shape, width, weight)
            assert all(out[i, j] == sum(left[i, k] * right[k, j] for k in range(d)) for i in range(b) for j in range(f))
            sizes = dict(B=b, D=d, F=f)
            close(lib.matmul_ops(**sizes), ops)
            close(lib.matmul_bytes(**sizes, b=width, b_w=weight), moved)
            close(lib.arithmetic_intensity(ops=ops, V=moved), ops / moved)
            close(lib.matmul_math_time(**sizes, C=3.0), ops / 3)
            close(lib.matmul_memory_time(**sizes, b=width, b_w=weight, W_hbm=5.0), moved / 5)
            for rate in (0.01, 1e4):
                slower = max(ops / rate, moved / 5)
                close(lib.matmul_time(**sizes, b=width, b_w=weight, C=rate, W_hbm=5.0), slower)
            if width == weight:
                close(lib.matmul_intensity(**sizes, b=width), ops / moved)


@checks("mlp_intensity")
def an_mlp_counted_element_by_element(lib):
    for tokens, width, hidden, matrices in ((1, 1, 1, 2), (2, 3, 4, 3), (5, 2, 3, 3), (3, 4, 2, 2)):
        for size, weight in ((2, 2), (2, 1), (4, 0.5)):
            _, into_ops, into_bytes = product(tokens, width, (matrices - 1) * hidden, size, weight)
            _, out_ops, out_bytes = product(tokens, hidden, width, size, weight)
            given = dict(B=tokens, D=width, F=hidden, n_mat=matrices, b=size, b_w=weight)
            close(lib.mlp_intensity(**given), (into_ops + out_ops) / (into_bytes + out_bytes))


@checks("vector_add_ops", "vector_add_bytes", "vector_add_intensity", "vector_add_time", "launch_bound_length")
def a_vector_sum_counted_element_by_element(lib):
    for length, width in ((1, 4), (17, 2), (64, 8)):
        ops, moved = vector_sum(length, width)
        close(lib.vector_add_ops(n=length), ops)
        close(lib.vector_add_bytes(n=length, b=width), moved)
        close(lib.vector_add_intensity(b=width), ops / moved)
        close(lib.vector_add_time(alpha=7, n=length, b=width, W_hbm=3), transfer(moved, 7, 3))
        launch = moved / 3  # a launch that takes as long as this sum's traffic
        close(lib.launch_bound_length(alpha=launch, b=width, W_hbm=3), length)


@checks(
    "cuda_cores",
    "vector_peak",
    "tensor_peak",
    "tensor_core_rate",
    "implied_clock",
    "chip_capacity",
    "chip_bandwidth",
    "loads_in_flight",
)
def units_counted_one_by_one(lib):
    sms, lanes, cores, cycles = 5, 16, 3, 11
    close(lib.cuda_cores(n_sm=sms, n_lane=lanes), counted(sms, lanes))
    for per_lane in (1, 2):  # FLOPs per second of a clock that ticks eleven times per second
        peak = counted(cycles, sms, lanes, per_lane)
        close(lib.vector_peak(n_sm=sms, n_lane=lanes, k_op=per_lane, f_clock=cycles), peak)
        close(lib.implied_clock(P_run=peak, n_sm=sms, n_lane=lanes, k_op=per_lane), cycles)
    multiply_adds = counted(4, 4, 4)  # a small Tensor Core: a 4 x 4 x 4 matmul per cycle
    peak = counted(cycles, sms, cores, multiply_adds, 2)
    close(lib.tensor_peak(n_sm=sms, n_tc=cores, r_tc=2 * multiply_adds, f_clock=cycles), peak)
    close(lib.tensor_core_rate(C=peak, n_sm=sms, n_tc=cores, f_clock=cycles), 2 * multiply_adds)
    close(lib.chip_capacity(n_sm=sms, S_sm=100), counted(sms, 100))
    close(lib.chip_bandwidth(n_sm=sms, w_sm=32, f_clock=cycles), counted(cycles, sms, 32))
    close(lib.loads_in_flight(n_sm=sms, w_res=2, w_lanes=8, n_load=3, b_load=4), counted(sms, 2, 8, 3, 4))


@checks("precision_doubling")
def halves_fit_twice(lib):
    """A register of fixed width holds as many elements as fit, and the unit works on all of them at once."""
    for width in (0.5, 1, 2, 4):
        elements = len(range(0, 64, int(8 * width)))  # elements in 64 bits
        reference = len(range(0, 64, 16))
        close(lib.precision_doubling(C_ref=reference, b_ref=2, b=width), elements)


@checks("tensor_speedup", "bandwidth_ratio")
def the_slower_one_takes_as_many_times_longer(lib):
    for fast, slow in ((990.0, 33.5), (3.0, 2.0), (5.5, 3.35)):
        close(lib.tensor_speedup(C=fast, P_run=slow), transfer(1, 0, slow) / transfer(1, 0, fast))
        close(lib.bandwidth_ratio(W_ref=fast, W=slow), transfer(1, 0, slow) / transfer(1, 0, fast))


# Simulation


@checks("roofline_time", "compute_time", "memory_time", "attainable", "fed_rate", "ridge_point", "mixed_rate")
def tiles_streamed_through_two_buffers(lib):
    draw, tiles = random.Random(3), 4000
    for _ in range(12):
        ops, moved, peak, bus = (10 ** draw.uniform(0, 3) for _ in range(4))
        took = pipeline(tiles, moved / bus / tiles, ops / peak / tiles)
        both = dict(T_math=ops / peak, T_mem=moved / bus)
        close(lib.roofline_time(**both), took, 1e-3)
        assert (
            lib.roofline_time(**both)
            <= took
            <= pipeline(tiles, moved / bus / tiles, ops / peak / tiles, buffers=1) * (1 + 1e-9)
        )
        close(lib.compute_time(ops=ops, C=peak), pipeline(tiles, 0.0, ops / peak / tiles), 1e-6)
        close(lib.memory_time(V=moved, W_hbm=bus), pipeline(tiles, moved / bus / tiles, 0.0), 1e-6)
        close(lib.attainable(I=ops / moved, C=peak, W_hbm=bus), ops / took, 1e-3)
        close(lib.fed_rate(I=ops / moved, C=peak, W=bus), ops / took, 1e-3)
        ridge = bisected(
            lambda x, bus=bus, peak=peak: pipeline(99, 0.0, x / peak) - pipeline(99, 1 / bus, 0.0), 1e-6, 1e6
        )
        close(lib.ridge_point(C=peak, W_hbm=bus), ridge, 1e-6)
        share = draw.random()
        close(
            lib.mixed_rate(C=peak, C_fp32=bus, s_vec=share),
            1 / pipeline(tiles, share / bus / tiles, (1 - share) / peak / tiles),
            1e-3,
        )


@checks("critical_batch", "critical_batch_mixed", "rule_batch")
def the_batch_at_which_two_clocks_agree(lib):
    """Bisection on the two times, each written out from the counts of a matmul."""
    peak, bus = 990e12, 3.35e12
    for d, f, width, weight in (
        (4096, 4096, 2, 2),
        (1024, 1024, 2, 2),
        (8192, 28672, 2, 1),
        (4096, 14336, 1, 1),
        (4096, 64, 2, 2),
        (590, 590, 2, 2),
        (591, 592, 2, 2),
    ):  # noqa: E501

        def gap(batch, d=d, f=f, width=width, weight=weight):
            moved = width * batch * d + weight * d * f + width * batch * f
            return 2 * batch * d * f / peak - moved / bus

        batch = bisected(gap, 1e-3, 1e15)
        rule = lib.rule_batch(b_w=weight, I_ridge=peak / bus)
        close(lib.critical_batch_mixed(B_rule=rule, D=d, F=f, b=width, I_ridge=peak / bus), batch, 1e-6)
        if width == weight:
            close(lib.critical_batch(B_rule=rule, D=d, F=f), batch, 1e-6)
    close(lib.critical_batch(B_rule=295.5, D=591, F=591), float("inf"))
    wide = bisected(lambda x: 2 * x * 1e18 / peak - (2 * x * 2e9 + 1e18) / bus, 1e-3, 1e15)
    close(lib.rule_batch(b_w=1, I_ridge=peak / bus), wide, 1e-5)


@checks("transfer_time", "effective_bandwidth", "half_size", "sweep_time")
def bytes_that_wait_and_then_flow(lib):
    for size, wait, rate in ((1e6, 1e-6, 1e9), (3.0, 2.0, 5.0), (64e6, 3e-6, 450e9)):
        took = transfer(size, wait, rate)
        close(lib.transfer_time(alpha=wait, V=size, W=rate), took)
        close(lib.effective_bandwidth(alpha=wait, V=size, W=rate), size / took)
        half = bisected(lambda v, wait=wait, rate=rate: v / transfer(v, wait, rate) - rate / 2, 1e-9, 1e15)
        close(lib.half_size(alpha=wait, W=rate), half, 1e-6)
        close(lib.sweep_time(S_level=size, W=rate), transfer(size, 0.0, rate))


@checks("concurrent_bandwidth", "bytes_in_flight", "warp_bandwidth")
def requests_kept_in_flight(lib):
    """An event queue: a request is made when one has arrived, and the link hands over one at a time.

    The latency of a request alone is alpha and its own bytes on the link.
    """
    latency, link, size = 600e-9, 1e9, 32.0
    reached = []
    for window in (1, 2, 5, 12, 18, 19, 25, 60):
        seen = requests.run(window, size, latency - size / link, link, rounds=80).bandwidth
        close(lib.concurrent_bandwidth(Q=window * size, alpha=latency, W=link), seen, 0.03)
        reached += [window] if seen > 0.999 * link else []
    assert abs(lib.bytes_in_flight(alpha=latency, W=link) - reached[0] * size) <= size  # to within one request
    for warps in (1, 3, 8, 20):
        seen = requests.run(2 * warps * 2 * 3, 4.0, latency - 4.0 / link, link, rounds=80).bandwidth
        ours = lib.warp_bandwidth(n_sm=2, w_res=warps, w_lanes=2, n_load=3, b_load=4.0, alpha=latency, W=link)
        close(ours, seen, 0.03)
