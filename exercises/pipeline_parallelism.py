"""Practice questions on pipelines."""

from fractions import Fraction

from gpuscale import chip, model
from gpuscale.ledger import claim
from gpuscale.llm import pipeline
from gpuscale.quiz import Question, QuestionSet
from gpuscale.schedules.pipelines import orders
from gpuscale.symbols import N_MB, L, N_stages, X, b_grad, b_w, f_bub, g_stage, i_stage, n_virt, t_B, t_F, t_W
from gpuscale.units import show

h100 = chip("h100_sxm")
llama = model("llama3_70b")
ms = 1e-3
hop = pipeline.hop_time.where(pipeline.hop_bytes, title="Time of one stage transfer of a batch")
plain, cut = pipeline.bubble_overhead, pipeline.interleaved_overhead
PRINTED = claim("scaling-book-gpus:PP-factor").published  # transfers of a layer, by the source
said = (N_stages / 2 - 1) * (t_F + 2 * t_B - 3 * t_W)

idle = pipeline.bubble_fraction(N_stages=8, N_MB=8)
full, once = orders.gpipe(4, 8).makespan, orders.one_f_one_b(4, 8).makespan
cut_layers = pipeline.first_stage_layers(L=llama.layers, N_stages=8, N_MB=32, n_virt=2)
late = [make(4, 8, t_hop=Fraction(1, 16)).exposed for make in (orders.gpipe, orders.one_f_one_b)]

questions = QuestionSet(
    "pipeline_parallelism",
    "Pipeline parallelism",
    intro="Questions on how long stages wait, what they store meanwhile, and what travels between them.",
    chapter="pipeline_parallelism",
    questions=[
        Question(
            "A pipeline of {N_stages} equal stages runs {N_MB} microbatches with 1F1B. For what fraction of the step is a "
            "stage idle?",
            answer=pipeline.bubble_fraction,
            given=[{"N_stages": 8, "N_MB": 16}, {"N_stages": 4, "N_MB": 6}],
            unit="%",
            mistakes={
                "That divides by the busy time; the question asks for the fraction of the total time.": plain,
                "A stage waits for the other stages only, so subtract one from the stages, above and below the line.": N_stages
                / (N_MB + N_stages),
            },
            solution=[
                r"A step lasts $N_\mathrm{MB} + N_\mathrm{stages} - 1$ passes, and a stage is busy in $N_\mathrm{MB}$ of them.",
                pipeline.bubble_fraction,
            ],
        ),
        Question(
            r"How long does a step of GPipe take, with $N_\mathrm{stages}$ stages and $N_\mathrm{MB}$ microbatches? A microbatch "
            r"takes $t_\mathrm{F}$ forward through a stage and $t_\mathrm{B}$ backward. Give a formula.",
            answer=pipeline.pipeline_step,
            symbols=(N_MB, N_stages, t_F, t_B),
            mistakes={
                "That is the work of a stage, without its idle time.": N_MB * (t_F + t_B),
                "Counted twice: the stage's own pass is in the work already.": (N_MB + N_stages) * (t_F + t_B),
                "The gradients have to come back as well.": N_MB * (t_F + t_B) + (N_stages - 1) * t_F,
            },
            remark="1F1B takes as long. It changes how much is stored, but not how the pipeline fills and drains.",
        ),
        Question(
            "The bubble may take {f_bub} of the step. How many microbatches does 1F1B need with {N_stages} stages?",
            answer=(1 - f_bub) * (N_stages - 1) / f_bub,
            given=[{"f_bub": 0.1, "N_stages": 8}, {"f_bub": 0.25, "N_stages": 5}],
            unit="1",
            tolerance=0.01,
            mistakes={
                "That takes the fraction of the busy time instead of the total time.": (N_stages - 1) / f_bub,
                "A stage waits for the other stages only: one fewer.": (1 - f_bub) * N_stages / f_bub,
            },
            solution=[
                "Set the bubble fraction equal to the given fraction, and solve for the microbatches.",
                ((1 - f_bub) * (N_stages - 1) / f_bub, "microbatches"),
            ],
        ),
        Question(
            "An interleaved schedule splits each of {N_stages} stages into {n_virt} virtual stages and runs {N_MB} microbatches. "
            "How large is the bubble overhead, idle time over busy time?",
            answer=cut,
            given=[{"N_stages": 8, "N_MB": 16, "n_virt": 4}, {"N_stages": 4, "N_MB": 8, "n_virt": 3}],
            unit="%",
            mistakes={
                "That is without interleaving.": plain,
                "There are as many ranks as before, however many virtual stages.": (n_virt * N_stages - 1)
                / (n_virt * N_MB),
                "That is the fraction of the total time.": pipeline.interleaved_fraction,
            },
            tolerance=0.01,
        ),
        Question(
            "1F1B runs {N_MB} microbatches through {N_stages} stages. For how many microbatches does the stage with {i_stage} "
            "stages before it store activations?",
            answer=pipeline.one_f_one_b_held,
            given=[{"N_stages": 8, "N_MB": 32, "i_stage": 2}, {"N_stages": 16, "N_MB": 48, "i_stage": 5}],
            exact=True,
            noun="microbatches",
            mistakes={
                "That is GPipe, which starts its backward passes only after all of them.": N_MB,
                "It also stores the one that it is working on.": N_stages - i_stage - 1,
                "The first stage stores that many; this one has fewer stages after it.": N_stages,
            },
            solution=[
                "It runs ahead by one microbatch for every stage after it, and stores the one it is working on.",
                pipeline.one_f_one_b_held,
            ],
        ),
        Question(
            "Llama 3 70B runs with an interleaved schedule: {N_stages} ranks, {n_virt} virtual stages per rank, {N_MB} "
            "microbatches. For how many layers does the first rank store activations at most, counting each layer once per "
            "microbatch?",
            answer=pipeline.first_stage_layers,
            given={"L": llama.layers, "N_stages": 8, "n_virt": 5, "N_MB": 32},
            tolerance=0.005,
            hint="The model has 80 layers.",
            mistakes={
                "That is 1F1B without virtual stages: as many as the model has.": L,
                "That is one virtual stage of a microbatch too many: only the ranks after it count, one fewer than all.": L
                * (1 + N_stages / (n_virt * N_stages)),
                "That would store all microbatches of the step.": L * N_MB / N_stages,
            },
            vary={N_stages: (), n_virt: (2, 5)},
        ),
        Question(
            "ZB-H1 runs {N_MB} microbatches through {N_stages} stages. A forward pass takes {t_F} and a backward pass {t_B}, of "
            "which {t_W} are for the weight gradients. How long is a stage idle in a step?",
            answer=pipeline.zb_bubble,
            given=[
                {"N_stages": 8, "N_MB": 32, "t_F": 10 * ms, "t_B": 21 * ms, "t_W": 9 * ms},
                {"N_stages": 4, "N_MB": 16, "t_F": 6 * ms, "t_B": 13 * ms, "t_W": 5 * ms},
            ],
            mistakes={
                "That is 1F1B, which defers nothing.": pipeline.bubble_time,
                "Deferring shortens the first trip back and fills the end as well: it counts twice.": (N_stages - 1)
                * (t_F + t_B - t_W),
            },
        ),
        Question(
            "A batch of {B} tokens of Llama 3 70B goes through a pipeline in {N_MB} microbatches, with activations in bf16. Each "
            "stage is one H100 SXM and sends through its own NIC. How long does one stage transfer take?",
            answer=hop,
            given={"B": 2**20, "D": llama.d_model, "b": 2, "N_MB": 32, "W": h100.nic_bw},
            hint="The model is 8,192 wide, and the NIC of an H100 has 50 GB/s.",
            mistakes={
                "That sends the whole batch at once.": hop.where(N_MB=1),
                "That counts elements; each has its bytes.": {"b": 1},
                "That is a transfer in each direction.": 2 * hop.rhs,
            },
        ),
        Question(
            f'Find the error. "Per layer, a pipeline costs {PRINTED:g} times the transfer of the batch, divided by the number '
            'of layers." Let the transfers of the forward pass follow one another, with nothing hidden. What is the factor '
            "for {N_stages} stages and {N_MB} microbatches?",
            answer=1 + (N_stages - 2) / N_MB,
            given=[{"N_stages": 8, "N_MB": 4}, {"N_stages": 16, "N_MB": 8}],
            unit="1",
            mistakes={
                "Two transfers too many: the first microbatch needs one fewer than there are stages, and only the "
                "other microbatches add one each.": 1 + N_stages / N_MB,
                "That is one transfer too many: there is one border fewer than stages.": 1 + (N_stages - 1) / N_MB,
                "That counts transfers; compare them with one transfer of the whole batch.": N_MB + N_stages - 2,
            },
            solution=[
                r"There are $N_\mathrm{MB} + N_\mathrm{stages} - 2$ stage transfers one after another. Each moves one of "
                r"$N_\mathrm{MB}$ parts of the batch.",
                (1 + (N_stages - 2) / N_MB, "transfers of the whole batch"),
            ],
            remark=f"{PRINTED:g} is right only if there are twice as many microbatches as stages between the first and the last.",
        ),
        Question(
            r'Find the error. "DualPipe waits $(N/2 - 1)(F\&B + B - 3W)$." There are {N_stages} stages. A forward '
            "pass takes {t_F} and a backward pass {t_B}, of which {t_W} are for the weights. Two passes side by side hide only "
            "communication. How long is a rank really idle?",
            answer=pipeline.dualpipe_bubble,
            given={"N_stages": 16, "t_F": 12 * ms, "t_B": 20 * ms, "t_W": 10 * ms},
            mistakes={
                "That is the quoted form. Here the forward pass is longer than the input gradient.": said,
                "That is 1F1B.": pipeline.bubble_time,
            },
            solution=pipeline.dualpipe_bubble,
            remark="The published form needs a forward pass as long as the input gradient. The longer of the two sets the pace. "
            "(The exact form is in the block for specialists.)",
        ),
        Question(
            "ZeRO-3 inside a pipeline: for every microbatch, weights are gathered and gradients reduced among {X} copies, in bf16. "
            "Each GPU is an H100 SXM with its own NIC, and no two copies share a node. How many tokens must a microbatch have for the "
            "arithmetic to hide this?",
            answer=pipeline.regather_tokens,
            given={"b_w": 2, "b_grad": 2, "X": 16, "W": h100.nic_bw, "C": h100.bf16},
            tolerance=0.01,
            hint="An H100 does 989 TFLOP/s, and its NIC has 50 GB/s.",
            mistakes={
                "That forgets the second gather: the backward pass needs the weights too.": pipeline.regather_tokens.rhs
                * (b_w + b_grad)
                / (2 * b_w + b_grad),
                "A rank already has its own part.": pipeline.regather_tokens.rhs * X / (X - 1),
            },
            remark="Without a pipeline the whole batch of a copy has to meet this, and not each microbatch.",
        ),
        Question(
            "1F1B runs {N_MB} microbatches through {N_stages} stages. Because of the output head, the last stage takes {g_stage} "
            "times as long as the others. How much longer is the step than the same work spread evenly?",
            answer=pipeline.uneven_overhead,
            given={"N_stages": 8, "N_MB": 32, "g_stage": 1.25},
            unit="%",
            tolerance=0.01,
            mistakes={
                "That is for equal stages.": plain,
                "That adds the two, but the slow stage sets the pace of every microbatch.": plain.rhs + g_stage - 1,
            },
        ),
        Question(
            "A pipeline of {N_stages} stages runs 1F1B. Its profile shows exposed transfers throughout the step. What hides them "
            "without more arithmetic?",
            given={"N_stages": 8},
            choices=[
                (
                    "letting stages run further ahead",
                    "Then another microbatch fills the idle time, at the cost of memory.",
                    True,
                ),
                ("more microbatches", "Each further one exposes nearly two more transfers.", False),
                (
                    "GPipe's order with recomputation",
                    "It exposes only fill and drain, but runs each forward pass twice.",
                    False,
                ),
                ("more stages", "That makes the trips longer.", False),
            ],
        ),
        Question(
            "A pipeline has eight stages. With one microbatch, a stage is idle for 88% of the time. For what fraction is it idle "
            "with eight microbatches?",
            predict=True,
            choices=[
                ("12%", "The idle time stays as long as before; only the work grows.", idle < 0.2),
                ("47%", "Eight passes of work, and seven of waiting.", 0.4 < idle < 0.5),
                ("88%", "More microbatches do help: a stage now has more work for the same wait.", idle > 0.8),
            ],
            solution=f"{show(idle, '%')}. A stage has eight passes of work and still waits for seven, so it is idle for 7/15 of "
            "the time. With as many microbatches as stages, nearly half of the time is lost.",
        ),
        Question(
            "1F1B starts the backward passes much earlier than GPipe. What happens to the bubble?",
            predict=True,
            choices=[
                ("it disappears", "The last stage still has to wait for the first microbatch.", False),
                ("it shrinks by half", "How long does the pipeline take to fill and to drain?", once < full),
                ("it stays the same", "The pipeline fills and drains as before.", once == full),
            ],
            solution="It stays the same. Filling takes a forward pass per stage and draining a backward pass, in either "
            "schedule. What changes is the memory.",
        ),
        Question(
            "Llama 3 70B has 80 layers. With 1F1B on eight ranks, the first rank stores the activations of ten layers for "
            "each of eight microbatches, 80 in all. How many are stored with two virtual stages per rank?",
            predict=True,
            choices=[
                ("about 40", "Virtual stages don't divide the layers of a rank among more ranks.", cut_layers < 60),
                ("80", "The ranks run further ahead than before.", 60 <= cut_layers < 90),
                ("about 115", "The first rank runs ahead by one more virtual stage per other rank.", cut_layers > 110),
            ],
            solution=f"{show(cut_layers, 'count')}. The first rank runs further ahead, by one virtual stage for each of the other "
            "ranks. The list below counts them. The smaller bubble costs memory.",
        ),
        Question(
            "GPipe and 1F1B run the same microbatches through the same stages, and a stage transfer takes a fraction of a "
            "forward pass. Which of the two exposes more transfers?",
            predict=True,
            choices=[
                (
                    "GPipe",
                    "GPipe always has another microbatch to work on, except at the start and end.",
                    late[0] > late[1],
                ),
                ("1F1B", "A stage may run only so far ahead, so it waits for each round trip.", late[1] > late[0]),
                (
                    "both for the same number",
                    "The bubbles are equal, but only with free transfers.",
                    late[0] == late[1],
                ),
            ],
            solution="1F1B. A stage has to alternate between a forward and a backward pass, and it waits for a neighbor before each. GPipe "
            "can work on other microbatches during a transfer.",
        ),
    ],
)
