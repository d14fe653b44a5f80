"""Practice questions on collectives that cross several levels of a network, and the predictions of the chapter."""

from sympy import Max, floor

from gpuscale import chip, measured, show
from gpuscale.collectives import hierarchy, ring_all_gather
from gpuscale.llm import counts
from gpuscale.network import topology
from gpuscale.quiz import Question, QuestionSet, both_directions
from gpuscale.symbols import (
    G_2,
    G_3,
    G,
    M,
    N,
    P,
    P_layer,
    V,
    W_node,
    W_nvl,
    W_ref,
    Y,
    alpha,
    b,
    indexed,
    n_chunk,
    n_in,
    n_unit,
    r_over,
)
from gpuscale.units import GB, MB

h100, b200, gb200 = chip("h100_sxm"), chip("b200_sxm"), chip("gb200")
pod, llama = topology("h100_pod_1024"), topology("llama3_24k")
NODE, UNIT, UNITS = (tier.degree for tier in pod.tiers)
RACK = topology("gb200_nvl72").ranks
steps = {row["link"]: row["simple"] for row in measured("nccl_latency").rows}
ALPHAS = [indexed(alpha, i) for i in (1, 2, 3)]
H100 = {"W_nvl": h100.nvlink_bw, "W_node": NODE * h100.nic_bw}
B200 = {"W_nvl": b200.nvlink_bw, "W_node": NODE * b200.nic_bw}
RACKS = {"W_nvl": gb200.nvlink_bw, "W_node": RACK * gb200.nic_bw}
LAYER = counts("llama3_70b").P_layer
nvlink, nics = (G - 1) / (G * W_nvl), (M - 1) / (M * W_node)
equal_nodes = G * W_nvl / (G * W_nvl - (G - 1) * W_node)
printed = W_node * n_in * G_2 / (G_2 - 1)
starts = sum((d - 1) * a for d, a in zip((G, G_2, G_3), ALPHAS, strict=True))
into_node = V * 8 / Y * (1 - Y / N) / W_node
NODE_SHARE = (NODE - 1) / (NODE * H100["W_nvl"])  # seconds per byte of the array, over NVLink
NEW = (M - 1) / (M * W_ref)  # the NICs after an upgrade
TABLES = "The NVLink and the NIC of each GPU are in the hardware tables. A node has one NIC per GPU."


def ring_time(nodes):
    return ring_all_gather(V=1 * GB, N=nodes, W=H100["W_node"], alpha=0)


levels = [
    Question(
        "An all-gather runs over {M} nodes of eight H100s. Which bandwidth would it see if only the NICs mattered?",
        answer=W_node * M / (M - 1),
        given=[{"M": 4, "W_node": H100["W_node"]}, {"M": 8, "W_node": H100["W_node"]}],
        unit="B/s",
        mistakes={
            "A node holds its own part already and receives only the rest.": 1 * W_node,
            "It is the other way around: because fewer bytes have to move, the bandwidth seen is higher.": W_node
            * (M - 1)
            / M,
            **both_directions(W_node),
        },
        hint=TABLES,
    ),
    Question(
        "An all-gather runs over {M} nodes of eight H100s under the same leaf switches. The NICs feed the GPUs directly. "
        "Which link is the bottleneck?",
        given=[{"M": 2, "G": NODE, **H100}, {"M": 16, "G": NODE, **H100}],
        choices=[
            (
                "NVLink",
                "Compare what each GPU receives from its neighbors with what its node receives from outside.",
                nvlink > nics,
            ),
            (
                "the NICs",
                "Compare what a node receives from outside with what each GPU receives from its neighbors.",
                nvlink < nics,
            ),
            ("the spine", "These nodes share their leaf switches, so nothing passes the spine.", False),
        ],
    ),
    Question(
        "How long does an all-gather of {V} take on two nodes of eight B200s, if NVLink and NICs work at the same time?",
        answer=V * Max(nvlink, nics).subs(M, 2),
        given=[{"V": 1 * GB, "G": NODE, **B200}, {"V": 400 * MB, "G": NODE, **B200}],
        unit="s",
        mistakes={
            "Half of the array is in the node from the start.": V / W_node,
            "A GPU receives an eighth of the array from its NIC, not over NVLink. And here the NICs take longer.": V
            / W_nvl,
            "That is NVLink, which has time to spare here.": V * nvlink,
            "That is one level after the other, but here both work at once.": V * (nvlink + nics.subs(M, 2)),
        },
        hint=TABLES,
        remark="On two nodes of H100s, NVLink is the bottleneck. A B200 has twice the NVLink and the same NIC.",
    ),
    Question(
        "An all-gather runs over nodes of $G$ GPUs. Each GPU has $W_\\mathrm{NVLink}$ of NVLink bandwidth and each node "
        "has $W_\\mathrm{node}$ of NIC bandwidth; the NICs feed the GPUs directly. At which number of nodes do NVLink "
        "and the NICs take equally long? Give a formula. (Type G, W_nvl, W_node.)",
        answer=equal_nodes,
        unit="1",
        symbols=(G, W_nvl, W_node),
        mistakes={
            "That leaves out what each GPU and each node holds from the start.": W_nvl / (W_nvl - W_node),
            "That is only the ratio of the bandwidths. On both levels, some of the array is there from the start.": W_nvl
            / W_node,
        },
        solution=r"Set $(G - 1)/(G\,W_\mathrm{NVLink})$ equal to $(M - 1)/(M\,W_\mathrm{node})$ and solve for $M$.",
        remark="On nodes of eight H100s it lies between four and five.",
    ),
]

links = [
    Question(
        "An all-gather of $V$ bytes runs over $N$ GPUs. How many bytes enter a block of $n_\\mathrm{in}$ GPUs through its "
        "uplink? (Type V, n_in, N. The block belongs to a unit of $n_\\mathrm{unit}$ GPUs, which may or may not matter.)",
        answer=V * (1 - n_in / N),
        unit="B",
        symbols=(V, n_in, n_unit, N),
        mistakes={
            "That counts the siblings below one switch; bytes from farther away use the same uplink.": V
            * (1 - n_in / n_unit),
            "The block holds a part of the array already.": V,
            "That is what it holds, but only what it lacks has to come in.": V * n_in / N,
            "It holds as many shards as it has GPUs, not one.": V * (1 - 1 / N),
        },
    ),
    Question(
        "An all-gather runs over {M} nodes of eight H100s, in two scalable units of {G_2}. Which bandwidth do the NICs of "
        "a node allow exactly?",
        answer=W_node * M / (M - 1),
        given={"M": 2 * UNIT, "G_2": UNIT, "W_node": H100["W_node"]},
        unit="B/s",
        tolerance=0.005,
        mistakes={
            "That counts the other nodes of the unit only; the other unit's bytes come through the same NICs.": W_node
            * G_2
            / (G_2 - 1),
            "A node holds its own part already.": 1 * W_node,
        },
        hint=TABLES,
        fixed="the units make up the pod",
    ),
    Question(
        "Without any overlap between NVLink and NICs, which bandwidth does an all-gather over two nodes of eight H100s "
        "see?",
        answer=1 / (nvlink + nics.subs(M, 2)),
        given={"G": NODE, **H100},
        unit="B/s",
        mistakes={
            "That is with perfect overlap.": 1 / nvlink,
            "The bytes that are there from the start cost nothing.": 1 / (1 / W_nvl + 1 / W_node),
        },
        hint=TABLES,
    ),
    Question(
        "GB200 NVL72 racks are joined by one NIC per GPU. Which link is the bottleneck of an all-gather over {M} racks?",
        given=[{"G": RACK, "M": 4, **RACKS}, {"G": RACK, "M": 8, **RACKS}],
        choices=[
            ("NVLink", "All NICs of a rack together are four times as fast as one GPU's NVLink.", nvlink > nics),
            ("the NICs", "The NICs of all GPUs of a rack add up.", nvlink < nics),
        ],
    ),
    Question(
        "On the pod of 1,024 H100s, rings run on one level after the other: in the nodes, between the nodes of a unit and "
        "between the units. How long does an all-gather of a few bytes take with the latencies that NCCL assumes for its "
        "Simple protocol?",
        answer=starts,
        given={"G": NODE, "G_2": UNIT, "G_3": UNITS}
        | {"alpha_1": steps["NVLink"], "alpha_2": steps["network"], "alpha_3": steps["network"]},
        unit="s",
        tolerance=0.01,
        mistakes={
            "A ring of n ranks has n \u2212 1 steps.": starts + sum(ALPHAS),
            "That is one ring through all GPUs, node by node.": (G - 1) * G_2 * G_3 * ALPHAS[0]
            + (G_2 - 1) * G_3 * ALPHAS[1]
            + (G_3 - 1) * ALPHAS[2],
            "That is one ring through all GPUs, with each step as slow as one over the network.": (G * G_2 * G_3 - 1)
            * ALPHAS[1],
            "That is one ring through all nodes, then a ring in each node.": (G_2 * G_3 - 1) * ALPHAS[1]
            + (G - 1) * ALPHAS[0],
            "That is one step of each level.": sum(ALPHAS),
        },
        hint="Count the steps of each ring. Measured tables list the latency of a step on NVLink and on the network.",
        remark="A ring through all 128 nodes needs 134 steps instead of 41, most of them over the network.",
    ),
]

sharded = [
    Question(
        "In a unit of {N} H100s, an array of {V} is sliced for Y = {Y} neighboring GPUs, and each slice is sharded over the "
        "other axis. How long does an all-gather of the slices take at the NICs?",
        answer=into_node,
        given=[{"V": 512 * MB, "N": 256, "Y": y, "W_node": H100["W_node"]} for y in (32, 64, 128)],
        unit="s",
        tolerance=0.01,
        mistakes={
            "Each node holds a part of its slices already: 1 \u2212 Y/N is missing.": V * 8 / Y / W_node,
            "That takes 1 \u2212 1/M with all nodes; only N/Y GPUs share a slice.": V * 8 / Y * 31 / 32 / W_node,
            "A node needs only some of the slices: one for each of its eight GPUs.": V * (1 - Y / N) / W_node,
        },
        hint=TABLES,
        vary={N: ()},
    ),
    Question(
        "On 32 H100 nodes, $Y$ grows from 1 to 8. Each GPU now needs only an eighth of the matrix. What happens to the "
        "time of the all-gather?",
        predict=True,
        choices=[
            ("It shrinks to an eighth.", "Count what a node needs, not what a GPU needs.", False),
            ("It shrinks a little.", "The NICs are the bottleneck, and they carry as much as before.", False),
            ("It stays the same.", "Every node still needs every slice.", True),
        ],
        solution=f"It stays at {show(ring_time(UNIT), 's')} per GB. The eight GPUs of a node need eight different slices, "
        "so the whole matrix still enters every node. Only NVLink is relieved. At $Y = 8$ no two GPUs of a node share a "
        "slice, and NVLink carries nothing.",
    ),
    Question(
        r"Find the error. A published rule gives a level the time $V\,(G_i - 1)/(G_i \max(Y, n)\,W)$, with $n$ the GPUs "
        "inside a child and $W$ the bandwidth of the child's uplink. Put $Y = 1$ at the leaf level of a scalable unit: "
        "{G_2} nodes of {n_in} H100s. Which bandwidth does the rule promise?",
        answer=printed,
        given={"G_2": UNIT, "n_in": NODE, "W_node": H100["W_node"]},
        unit="B/s",
        tolerance=0.01,
        mistakes={
            "That is what a node can receive; the rule as printed says otherwise.": W_node * G_2 / (G_2 - 1),
            "Keep the factor (G_i \u2212 1)/G_i of the rule.": W_node * n_in,
        },
        hint=TABLES,
        remark="No node can receive that much, because the rule lacks a factor n in its numerator.",
    ),
    Question(
        "In Meta's cluster for Llama 3, two nodes share a rack switch. The level rule promises the bandwidth of its "
        "slowest level. Which bandwidth does an all-gather over all GPUs of the cluster really see?",
        answer=1 / Max(nvlink, nics),
        given={"G": NODE, "M": llama.nodes, **H100},
        unit="B/s",
        mistakes={
            "That is the level rule: NVLink. Count what enters a node from anywhere.": 1 / nvlink,
            "That is the rack level; the rest of the cluster uses the same NICs.": 2 * W_node,
        },
        solution=[
            (1 / nvlink, "the level rule: NVLink, the slowest level"),
            (1 / nics, "all that a node lacks comes through its NICs"),
        ],
        hint="The hardware tables list the levels of this cluster. How much of the array does one node lack?",
    ),
    Question(
        "An all-reduce of {V} crosses {M} nodes of eight H100s, and the NICs are the bottleneck. The leaf switches add "
        "(in-network reduction): each node sends the array once and receives it once, at the same time. How long does "
        "it take?",
        answer=V / W_node,
        given={"V": 512 * MB, "M": UNIT, "W_node": H100["W_node"]},
        unit="s",
        tolerance=0.01,
        mistakes={
            "That is a reduce-scatter and an all-gather among the nodes; here the switches add.": 2
            * V
            * (M - 1)
            / (M * W_node),
            "The node sends and receives at the same time, because links carry both directions at once.": 2
            * V
            / W_node,
            "That is one all-gather. Here, a node sends its whole partial sum up, not only a fraction of it.": V
            * (M - 1)
            / (M * W_node),
        },
        hint=TABLES,
    ),
    Question(
        "A model of 2 billion parameters trains data-parallel on {M} nodes of eight B200s. How long does the all-reduce of "
        "its bf16 gradients take at best, without in-network reduction?",
        answer=hierarchy.two_level_all_reduce_links.where(V=b * P),
        given={"P": 2e9, "b": 2, "M": 64, "G": NODE, **B200},
        mistakes={
            "That is half of it. A bf16 element has two bytes, and an all-reduce runs two collectives.": {"b": 1},
            "That is NVLink, which is not the bottleneck here.": 2 * b * P * nvlink,
        },
        solution=[
            (b * P * nics, "an all-gather at the NICs"),
            (b * P * nvlink, "NVLink is done sooner"),
            (2 * b * P * nics, "reduce-scatter and all-gather"),
        ],
        hint="Look up the NVLink and the NIC of a B200 in the hardware tables. How many bytes is a bf16 element?",
    ),
    Question(
        "You replace the NICs of 128 H100 nodes with NICs of 800 Gbit/s. By what factor does a large all-gather get "
        "faster?",
        answer=Max(nvlink, nics) / Max(nvlink, NEW),
        given={"M": pod.nodes, "G": NODE, **H100, "W_ref": NODE * GB * 100},
        unit="1",
        noun="times",
        mistakes={
            "NVLink becomes the bottleneck before that.": W_ref / W_node,
            "The bottleneck used to be the NICs, not NVLink.": nvlink / NEW,
        },
        solution=[
            (1 / nics, "seen before, at the NICs"),
            (1 / NEW, "what the new NICs alone would allow"),
            (1 / nvlink, "what NVLink allows"),
            (Max(nvlink, nics) / Max(nvlink, NEW), "the new bottleneck over the old one"),
        ],
        hint="A byte is eight bits. Compute both terms of refinement 2.",
    ),
    Question(
        "Llama 3 70B runs on 64 H100 nodes. The matrices of a layer are sliced for Y = {Y} tensor-parallel GPUs, and each "
        "slice is sharded over the other axis. How long does it take to gather one layer in bf16?",
        answer=hierarchy.two_level_sharded.where(V=b * P_layer),
        given=[{"P_layer": LAYER, "b": 2, "Y": y, "G": NODE, "M": 64, **H100} for y in (16, 8)],
        tolerance=0.005,
        mistakes={
            "Each node holds a part of its slices already.": b * P_layer * G / (Y * W_node),
            "A bf16 element has two bytes.": {"b": 1},
        },
        solution=[
            (b * P_layer, "bytes of a layer"),
            (b * P_layer * G / Y, "what a node needs of them"),
            (b * P_layer * G / Y * (1 - Y / (G * M)) / W_node, "what it lacks, through its NICs"),
        ],
        hint="Count the parameters of a layer from the table of models: attention and three MLP matrices. In which case "
        "can a node do without some slices?",
    ),
    Question(
        "The top level of the Llama 3 cluster is oversubscribed 7 to 1. How many rings like ours, through different "
        "nodes, could enter a pod of 3,072 GPUs at the same time without slowing each other down?",
        answer=floor(n_unit / (G * r_over)),
        given={"n_unit": llama.tiers[2].S, "G": NODE, "r_over": float(llama.tiers[2].oversubscription)},
        unit="1",
        exact=True,
        noun="rings",
        mistakes={
            "That is without oversubscription.": n_unit / G,
            "A ring enters a node through all of its NICs.": floor(n_unit / r_over),
            "Round down: only whole rings count.": floor(n_unit / (G * r_over)) + 1,
        },
        solution=[
            (n_unit / G, "nodes of a pod"),
            (n_unit / (G * r_over), "nodes that can send over the uplinks at full rate"),
            (floor(n_unit / (G * r_over)), "whole rings"),
        ],
        remark="One ring over the whole cluster is not slowed down at all. An axis of Y = 512 GPUs would need 64 of them.",
        hint="Compute the bandwidth of the pod's uplinks in units of what one node sends.",
    ),
    Question(
        f"On 16 nodes, an all-gather of 1 GB takes {show(ring_time(16), 's')}. How long does it take on 128 nodes?",
        predict=True,
        given={"M": 16, "N": 128},
        choices=[
            (
                "eight times as long",
                "There are more steps, but each of them moves fewer bytes.",
                (1 - 1 / N) > 4 * (1 - 1 / M),
            ),
            ("twice as long", "Add up the bytes that enter one node.", False),
            ("about as long", "Each node receives nearly the whole array, as before.", (1 - 1 / N) < 1.5 * (1 - 1 / M)),
        ],
        solution=f"About as long: {show(ring_time(128), 's')}. The ring has about eight times as many steps, but each "
        "step moves an eighth of the bytes. Each node still receives nearly 1 GB through the same eight NICs.",
    ),
    Question(
        f"Two H100 nodes gather 1 GB. NVLink brings {show(H100['W_nvl'], 'B/s')} into each GPU, and the NICs bring "
        f"{show(H100['W_node'], 'B/s')} into each node. "
        "Which is the bottleneck?",
        predict=True,
        given={"M": 2, "G": NODE, **H100},
        choices=[
            ("NVLink", "Count the bytes that each of the two carries.", nvlink > nics),
            ("the NICs", "Their bandwidth is lower, but they also have fewer bytes to bring.", nvlink < nics),
            ("both take equally long", "The two carry different numbers of bytes.", False),
        ],
        solution="NVLink. Each GPU needs seven eighths of the array over NVLink, which takes "
        f"{show(1 * GB * NODE_SHARE, 's')}. The node needs only half of the array through its NICs, which takes "
        f"{show(ring_time(2), 's')}. The all-gather sees {show(1 / NODE_SHARE, 'B/s')}, although the NICs alone would "
        f"allow {show(1 * GB / ring_time(2), 'B/s')}. Comparing bandwidths isn't enough: "
        "the two links carry different numbers of bytes.",
    ),
    Question(
        "The array is split into four chunks, and the links work on different chunks at the same time. How much of the "
        "faster link's time is not hidden behind the slower link?",
        predict=True,
        given={"n_chunk": 4},
        choices=[
            ("nothing", "The first chunk has to pass both links, one after the other.", False),
            ("a quarter", "The links take turns for one chunk only.", 1 / n_chunk <= 0.25),
            ("three quarters", "That is the part that is hidden.", False),
        ],
        solution="A quarter. The links have to take turns for one chunk. After that the slower link is always busy, and "
        "the faster one works at the same time.",
    ),
]

questions = QuestionSet(
    "across_the_hierarchy",
    "Across the hierarchy",
    intro="Questions on collectives that cross NVLink, NICs and spine switches: which link is the bottleneck, what "
    "overlap is worth, what a second axis saves. Bandwidths are in the hardware tables.",
    chapter="across_the_hierarchy",
    questions=[*levels, *links, *sharded],
)
