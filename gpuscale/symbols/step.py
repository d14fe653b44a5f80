"""Quantities of a whole training step: the choices of a plan, and what they cost."""

# fmt: off

from gpuscale.symbols.one_gpu import eta
from gpuscale.symbols.quantity import Quantity, indexed

# Choices that are switches
n_zero = Quantity("n_zero", "1",
    "stage of ZeRO: 0 shards nothing, 1 the optimizer, 2 also the gradients, 3 also the weights", r"n_\mathrm{ZeRO}",
    zero=True, whole=True, most=3)
n_recompute = Quantity("n_recompute", "1",
    "activation recomputation: 0 none, 1 selective (cheap parts), 2 whole layers, 3 the core of attention",
    r"n_\mathrm{recompute}", zero=True, whole=True, most=3)
n_even = Quantity("n_even", "1",
    "switch: 1 if every stage has the same layers and the head is on top, else 0: stages make room for it",
    r"n_\mathrm{even}", zero=True, whole=True, most=1)
n_sp = Quantity("n_sp", "1",
    "switch: 1 if the tensor-parallel ranks also shard the tokens (sequence parallel), else 0", r"n_\mathrm{sp}",
    zero=True, whole=True, most=1)
n_drop = Quantity("n_drop", "1", "switch: 1 if dropout follows both blocks, else 0", r"n_\mathrm{drop}", zero=True,
    whole=True, most=1)

# Work of a stage
B_mb = Quantity("B_mb", "1", "tokens of a microbatch on one tensor-parallel group", r"B_\mathrm{MB}")
L_head = Quantity("L_head", "1", "layers that cost as much as the output head, rounded up", r"L_\mathrm{head}",
    zero=True, whole=True)
L_room = Quantity("L_room", "1", "layers of a stage if the last one has room for the head", r"L_\mathrm{room}", least=1,
    whole=True)
L_stage = Quantity("L_stage", "1", "layers of the fullest stage", r"L_\mathrm{stage}", least=1, whole=True)
P_stage = Quantity("P_stage", "1", "parameters of the fullest stage", r"P_\mathrm{stage}")
P_up = Quantity("P_up", "1", "parameters of a layer whose matmuls selective recomputation repeats", r"P_\mathrm{up}",
    zero=True)
ops_stage = Quantity("ops_stage", "FLOP", "FLOPs of the forward pass per token in the slowest stage",
    r"\mathrm{FLOPs}_\mathrm{stage}")
T_fwd = Quantity("T_fwd", "s", "forward time of a microbatch in a stage", r"T_\mathrm{fwd}")
T_bwd = Quantity("T_bwd", "s", "backward time of a microbatch in a stage", r"T_\mathrm{bwd}")
T_mb = Quantity("T_mb", "s", "time of a microbatch in a stage, forward and backward", r"T_\mathrm{MB}")
V_fwd = Quantity("V_fwd", "B", "bytes that kernels between the matmuls move, for a microbatch in a stage, forward",
    r"V_\mathrm{fwd}", zero=True)
V_bwd = Quantity("V_bwd", "B", "the same, backward, recomputation included", r"V_\mathrm{bwd}", zero=True)
V_btw_fwd = Quantity("V_btw_fwd", "B", "bytes that kernels between the blocks of a layer move for a token, forward",
    r"V_\mathrm{between,fwd}")
V_btw_bwd = Quantity("V_btw_bwd", "B", "the same, backward", r"V_\mathrm{between,bwd}")
V_btw_recompute = Quantity("V_btw_recompute", "B", "the same, of the kernels that selective recomputation repeats",
    r"V_\mathrm{between,recompute}")
V_blk_fwd = Quantity("V_blk_fwd", "B", "bytes that kernels inside the blocks of a layer move for a token, forward",
    r"V_\mathrm{inside,fwd}", zero=True)
V_blk_bwd = Quantity("V_blk_bwd", "B", "the same, backward", r"V_\mathrm{inside,bwd}", zero=True)
V_blk_recompute = Quantity("V_blk_recompute", "B", "the same, of the kernels that selective recomputation repeats",
    r"V_\mathrm{inside,recompute}", zero=True)

# What moves
n_key = Quantity("n_key", "1", "key heads of all tensor-parallel ranks, copies counted", r"n_\mathrm{key}", least=1,
    whole=True)
f_node = Quantity("f_node", "1", "fraction of the nodes that a token has to reach", r"f_\mathrm{node}", most=1)
V_nvl = Quantity("V_nvl", "B", "bytes that a GPU receives over NVLink", r"V_\mathrm{NVLink}", zero=True)
V_net = Quantity("V_net", "B", "bytes that a node receives from the network", r"V_\mathrm{net}", zero=True)
V_step = Quantity("V_step", "B", "bytes that move in a whole step", r"V_\mathrm{step}", zero=True)
T_tp = Quantity("T_tp", "s", "communication time of tensor parallelism, for a microbatch in a stage", r"T_\mathrm{TP}",
    zero=True)
T_cp = Quantity("T_cp", "s", "communication time of context parallelism, for a microbatch in a stage", r"T_\mathrm{CP}",
    zero=True)
T_ep = Quantity("T_ep", "s", "communication time of expert parallelism, for a microbatch in a stage", r"T_\mathrm{EP}",
    zero=True)
T_scatter = Quantity("T_scatter", "s", "time of a reduce-scatter of all gradients", r"T_\mathrm{scatter}", zero=True)
T_gather = Quantity("T_gather", "s", "time of an all-gather of all weights", r"T_\mathrm{gather}", zero=True)
T_dp = Quantity("T_dp", "s", "exposed communication time of data parallelism, per step", r"T_\mathrm{DP}",
    zero=True)
T_pp = Quantity("T_pp", "s", "exposed time of transfers between stages, per step", r"T_\mathrm{PP}",
    zero=True)
T_idle = Quantity("T_idle", "s", "idle time of a stage, per step", r"T_\mathrm{idle}", zero=True)
g_tp = Quantity("g_tp", "1", "exposed fraction of tensor-parallel communication", r"g_\mathrm{TP}", most=1, zero=True)
g_cp = Quantity("g_cp", "1", "exposed fraction of context-parallel communication", r"g_\mathrm{CP}", most=1, zero=True)
g_ep = Quantity("g_ep", "1", "exposed fraction of expert-parallel communication", r"g_\mathrm{EP}", most=1, zero=True)

# What is stored
n_few_attn = Quantity("n_few_attn", "1",
    "activation elements that attention stores per token under selective recomputation",
    r"a_\mathrm{few,attn}")
n_few_mlp = Quantity("n_few_mlp", "1",
    "activation elements that the MLP stores per token under selective recomputation",
    r"a_\mathrm{few,MLP}")
n_end = Quantity("n_end", "1", "embedding matrices and output heads in a stage", r"n_\mathrm{end}", zero=True,
    whole=True)
n_last = Quantity("n_last", "1", "switch: 1 for the last stage, else 0", r"n_\mathrm{last}", zero=True, whole=True,
    most=1)
V_whole = Quantity("V_whole", "B", "bytes of activations of a layer, nothing recomputed", r"V_\mathrm{whole}")
V_coreless = Quantity("V_coreless", "B", "the same without what the core of attention stores", r"V_\mathrm{coreless}")
V_last = Quantity("V_last", "B", "bytes of activations that a rank of the last stage stores", r"V_\mathrm{last}")
V_work = Quantity("V_work", "B", "bytes of working buffers: gathered layers, a recomputed layer", r"V_\mathrm{work}",
    zero=True)
V_gpu = Quantity("V_gpu", "B", "bytes that a GPU needs", r"V_\mathrm{GPU}")
V_host = Quantity("V_host", "B", "bytes of a GPU that are in its host's memory", r"V_\mathrm{host}", zero=True)

# What a framework stores on top; all are zero where it stores nothing else
n_copy = Quantity("n_copy", "1", "further arrays of the model's width that a framework stores inside a layer",
    r"n_\mathrm{copy}", zero=True)
n_wide = Quantity("n_wide", "1", "further arrays of the MLP's width that a framework stores in a layer",
    r"n_\mathrm{wide}", zero=True)
n_ahead = Quantity("n_ahead", "1",
    "gathered arrays of the model's width that are not freed yet while the host is ahead of the GPU",
    r"n_\mathrm{ahead}", zero=True)
p_calm = Quantity("p_calm", "1", "probability that a node does not stall a pipeline", r"p_\mathrm{calm}", most=1)
V_ahead = Quantity("V_ahead", "B", "bytes of gathered arrays that are not freed yet", r"V_\mathrm{ahead}", zero=True)
n_extra = Quantity("n_extra", "1", "further activation elements that a framework stores inside a layer, per token",
    r"n_\mathrm{extra}", zero=True)
b_bucket = Quantity("b_bucket", "B", "bytes per parameter of the buckets in which replicas collect their gradients",
    r"b_\mathrm{bucket}", zero=True)
V_fix = Quantity("V_fix", "B", "bytes of a GPU that depend on nothing", r"V_\mathrm{fix}", zero=True)
V_extra = Quantity("V_extra", "B", "bytes of a GPU that a framework takes on top of state and activations",
    r"V_\mathrm{extra}", zero=True)

# Efficiencies of both levels, and of memory
eta_1, eta_2 = indexed(eta, 1), indexed(eta, 2)
eta_hbm = Quantity("eta_hbm", "1", "fraction of HBM bandwidth that a kernel achieves", r"\eta_\mathrm{HBM}", most=1)

# What a real step adds to its bounds; all are zero or one at the peaks
C_attn = Quantity("C_attn", "FLOP/s", "FLOP/s that attention reaches", r"C_\mathrm{attn}")
g_attn = Quantity("g_attn", "1", "FLOPs of attention's backward pass over those of its forward pass",
    r"g_\mathrm{attn}")
g_ker = Quantity("g_ker", "1", "bytes that kernels between the matmuls move, over the bytes counted for them",
    r"g_\mathrm{ker}")
b_loss = Quantity("b_loss", "B", "bytes that the loss moves for each logit, both passes", r"b_\mathrm{loss}", zero=True)
b_acc = Quantity("b_acc", "B", "bytes per parameter that adding up the gradients of a microbatch moves",
    r"b_\mathrm{acc}", zero=True)
b_upd = Quantity("b_upd", "B", "bytes per parameter that the optimizer moves in a step", r"b_\mathrm{upd}", zero=True)
t_host = Quantity("t_host", "s", "time of the host per layer of a microbatch, both passes", r"t_\mathrm{host}",
    zero=True)
t_cross = Quantity("t_cross", "s", "extra host time per layer and tensor-parallel rank if a pipeline crosses nodes",
    r"t_\mathrm{cross}", zero=True)
t_head = Quantity("t_head", "s", "time of the host per microbatch for embedding, head and loss", r"t_\mathrm{head}",
    zero=True)
t_far = Quantity("t_far", "s", "delay per layer of a microbatch and per tensor-parallel rank beyond the node",
    r"t_\mathrm{far}", zero=True)
t_fix = Quantity("t_fix", "s", "fixed time per step", r"t_\mathrm{fix}", zero=True)
alpha_dp = Quantity("alpha_dp", "s", "latency that each further rank of a ring adds to a bucket",
    r"\alpha_\mathrm{DP}", zero=True)
g_dp = Quantity("g_dp", "1", "fraction of the gradient exchange that is not overlapped", r"g_\mathrm{DP}",
    most=1, zero=True)
gamma_net = Quantity("gamma_net", "1", "exponent by which node bandwidth falls with the number of nodes",
    r"\gamma_\mathrm{net}", zero=True)
t_stall = Quantity("t_stall", "s",
    "time that a stage of a pipeline that stalls loses per microbatch and neighboring stage", r"t_\mathrm{stall}",
    zero=True)
T_stall = Quantity("T_stall", "s", "time that a pipeline that stalls loses in a step", r"T_\mathrm{stall}", zero=True)
T_mb_gpu = Quantity("T_mb_gpu", "s", "time of the GPU for a microbatch in a stage", r"T_\mathrm{MB,GPU}")
T_host = Quantity("T_host", "s", "time of the host for a microbatch in a stage", r"T_\mathrm{host}", zero=True)
T_upd = Quantity("T_upd", "s",
    "time of a step outside of its microbatches: the optimizer, and a fixed time per step",
    r"T_\mathrm{upd}", zero=True)
T_dp_best = Quantity("T_dp_best", "s", "exposed communication time of data parallelism if all that can overlap does",
    r"T_\mathrm{DP,best}", zero=True)
g_grp = Quantity("g_grp", "1", "time of the experts' grouped matmuls over that of plain ones", r"g_\mathrm{grp}",
    least=1)
T_grp = Quantity("T_grp", "s", "time that grouped matmuls add to a microbatch in a stage", r"T_\mathrm{grp}", zero=True)
T_wait = Quantity("T_wait", "s", "time that a microbatch in a stage waits for the host", r"T_\mathrm{wait}", zero=True)
n_calls = Quantity("n_calls", "1", "collectives that start for a microbatch in a stage", r"n_\mathrm{calls}", zero=True)
T_exc = Quantity("T_exc", "s", "time of all exchanges of data parallelism in a step, hidden or not", r"T_\mathrm{exc}",
    zero=True)
n_round = Quantity("n_round", "1", "rounds through the layers in which data parallelism communicates, per step",
    r"n_\mathrm{round}")
n_edge = Quantity("n_edge", "1", "layers at either end of a pass whose exchange nothing hides", r"n_\mathrm{edge}",
    zero=True)
eta_mat = Quantity("eta_mat", "1", "fraction of the peak FLOP/s that the matmuls of a run reach", r"\eta_\mathrm{mat}",
    most=1)
eta_nvl = Quantity("eta_nvl", "1", "fraction of NVLink's bandwidth that the collectives of a run reach",
    r"\eta_\mathrm{nvl}", most=1)
eta_net = Quantity("eta_net", "1", "fraction of a node's bandwidth that the collectives of a run reach on two nodes",
    r"\eta_\mathrm{net}", most=1)
eta_attn = Quantity("eta_attn", "1", "fraction of the peak FLOP/s that attention reaches", r"\eta_\mathrm{attn}",
    most=1)
