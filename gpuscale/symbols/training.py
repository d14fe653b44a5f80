"""Quantities of the memory that training takes, and of data parallelism."""

from gpuscale.symbols.quantity import Quantity

# Bytes for each parameter: a recipe
b_grad = Quantity("b_grad", "B", "bytes per element of the gradients", r"b_\mathrm{grad}", zero=True)
b_opt = Quantity(
    "b_opt", "B", "bytes per parameter of the optimizer: master copy and moments", r"b_\mathrm{opt}", also="K of ZeRO"
)
b_master = Quantity(
    "b_master", "B", "bytes per element of the optimizer's own copy of the weights", r"b_\mathrm{master}", zero=True,
    also="main params, fp32 copy",
)  # fmt: skip
b_mom = Quantity("b_mom", "B", "bytes per element of a moment of Adam", r"b_\mathrm{mom}", also="exp_avg, exp_avg_sq")
V_state = Quantity("V_state", "B", "bytes of weights, gradients and optimizer on a rank", r"V_\mathrm{state}")

# Which parameters a rank holds
P_rank = Quantity("P_rank", "1", "parameters whose weights a rank holds", r"P_\mathrm{rank}")
P_emb = Quantity("P_emb", "1", "parameters of the embedding and the output head together", r"P_\mathrm{emb}", zero=True)
P_exp = Quantity("P_exp", "1", "parameters of all routed experts of the model", r"P_\mathrm{exp}", zero=True)

# How many tokens data parallelism needs
B_min = Quantity(
    "B_min", "1", "tokens for each GPU from which on arithmetic hides the communication", r"B_\mathrm{min}",
    also="critical batch per GPU",
)  # fmt: skip
