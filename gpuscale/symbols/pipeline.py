"""Quantities of pipeline parallelism."""

from gpuscale.symbols.quantity import Quantity

N_stages = Quantity(
    "N_stages", "1", "stages of the pipeline", r"N_\mathrm{stages}", least=1, whole=True, also="p, PP, pipeline degree"
)
N_MB = Quantity(
    "N_MB", "1", "microbatches of a step", r"N_\mathrm{MB}", least=1, whole=True, also="m, gradient accumulation steps"
)
n_virt = Quantity(
    "n_virt", "1", "pieces that a stage is cut into (virtual stages)", r"n_\mathrm{virt}", least=1, whole=True,
    also="v, virtual pipeline size, chunks",
)  # fmt: skip
i_stage = Quantity("i_stage", "1", "stages before this one", r"i_\mathrm{stage}", zero=True, whole=True, also="rank")

# One microbatch in one stage
t_F = Quantity("t_F", "s", "forward pass of a microbatch through a stage", r"t_\mathrm{F}", also="T_F, F")
t_B = Quantity("t_B", "s", "backward pass of a microbatch through a stage, all of it", r"t_\mathrm{B}", also="B")
t_W = Quantity("t_W", "s", "part of a backward pass for gradients of weights", r"t_\mathrm{W}", zero=True, also="T_W")
t_FB = Quantity("t_FB", "s", "a forward and a backward pass that overlap", r"t_\mathrm{FB}", also="F&B")
T_hop = Quantity("T_hop", "s", "transfer of a microbatch from one stage to the next", r"T_\mathrm{hop}", zero=True)

# What a schedule does with them
n_hops = Quantity("n_hops", "1", "transfers that follow one another", r"n_\mathrm{hops}", zero=True)
f_bub = Quantity("f_bub", "1", "share of its time that a stage waits", r"f_\mathrm{bubble}", most=1, zero=True)
r_bub = Quantity("r_bub", "1", "time that a stage waits over the time that it works", r"r_\mathrm{bubble}", zero=True)
n_held = Quantity(
    "n_held", "1", "activations kept at a time, each of one microbatch in one stage or piece", r"n_\mathrm{held}"
)
L_held = Quantity("L_held", "1", "layers of one microbatch whose activations a rank keeps", r"L_\mathrm{held}")
T_late = Quantity(
    "T_late", "s", "time from a stage's last backward pass, its start, to the end of the step", r"T_\mathrm{late}"
)
g_stage = Quantity("g_stage", "1", "work of the slowest stage over that of the others", r"g_\mathrm{stage}", least=1)
