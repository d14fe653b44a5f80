"""What an explanation says about formulas and constants.

Printed by ``make printed``; do not edit.
"""

# Sources of formulas of gpuscale.llm.
SOURCES = {
    "bubble_time": "megatron2021, section 2.2",
    "dualpipe_bubble": "deepseek-v3, section 3.2.1",
    "expected_dp": "playbook",
    "expected_hop": "megatron2021, section 3",
    "expected_microbatch": "playbook",
    "grouped_time": "megablocks2022",
    "host_wait": "playbook",
    "interleaved_bubble": "megatron2021, section 2.2",
    "kernels_forward": "korthikanti2022, section 4.2",
    "microbatch_gpu_time": "flashattention2",
    "stage_flops": "llama3, section 3.3.2",
    "update_time": "zero2019, section 7",
    "zb_bubble": "zero-bubble2023, section 2",
}


# The formula of the idle time of each schedule.
BUBBLES = {
    "1f1b": "interleaved_bubble",
    "gpipe": "bubble_time",
    "zb-h1": "zb_bubble",
    "dualpipe": "dualpipe_bubble",
}


# Meanings of quantities.
MEANINGS = {
    "C": "peak FLOP/s of one GPU, dense",
    "V_bucket": "bytes of a bucket of gradients",
    "W_hbm": "bandwidth of HBM",
    "W_node": "bandwidth out of a node into the scale-out network, one direction",
    "W_nvl": "bandwidth of a GPU into NVLink, one direction",
    "alpha_1": "latency of a step or of a call at level 1",
    "alpha_2": "latency of a step or of a call at level 2",
    "alpha_dp": "latency that each further rank of a ring adds to a bucket",
    "alpha_rank": "latency that each rank beyond two nodes adds to a call",
    "b_acc": "bytes per parameter that adding up the gradients of a microbatch moves",
    "b_loss": "bytes that the loss moves for each logit, both passes",
    "b_upd": "bytes per parameter that the optimizer moves in a step",
    "eta_attn": "fraction of the peak FLOP/s that attention reaches",
    "eta_mat": "fraction of the peak FLOP/s that the matmuls of a run reach",
    "eta_net": "fraction of a node's bandwidth that the collectives of a run reach on two nodes",
    "eta_nvl": "fraction of NVLink's bandwidth that the collectives of a run reach",
    "g_attn": "FLOPs of attention's backward pass over those of its forward pass",
    "g_dp": "fraction of the gradient exchange that is not overlapped",
    "g_grp": "time of the experts' grouped matmuls over that of plain ones",
    "g_ker": "bytes that kernels between the matmuls move, over the bytes counted for them",
    "gamma_net": "exponent by which node bandwidth falls with the number of nodes",
    "n_edge": "layers at either end of a pass whose exchange nothing hides",
    "t_cross": "extra host time per layer and tensor-parallel rank if a pipeline crosses nodes",
    "t_far": "delay per layer of a microbatch and per tensor-parallel rank beyond the node",
    "t_fix": "fixed time per step",
    "t_head": "time of the host per microbatch for embedding, head and loss",
    "t_host": "time of the host per layer of a microbatch, both passes",
}


# Their largest values, where they have one.
MOSTS = {
    "eta_attn": 1.0,
    "eta_mat": 1.0,
    "eta_net": 1.0,
    "eta_nvl": 1.0,
    "g_dp": 1.0,
}
