"""Practice questions on pipelines."""

from gpuscale import chip, model
from gpuscale.ledger import claim
from gpuscale.llm import pipeline
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import N_MB, L, N_stages, X, b_grad, b_w, f_bub, g_stage, i_stage, n_virt, t_B, t_F, t_W

h100 = chip("h100_sxm")
llama = model("llama3_70b")
ms = 1e-3
hop = pipeline.hop_time.where(pipeline.hop_bytes, title="Time of one hop of a batch")
plain, cut = pipeline.bubble_overhead, pipeline.interleaved_overhead
PRINTED = claim("scaling-book-gpus:PP-factor").published  # transfers of a layer, by the source
said = (N_stages / 2 - 1) * (t_F + 2 * t_B - 3 * t_W)

questions = QuestionSet(
    "pipeline_parallelism",
    "Pipeline parallelism",
    intro="Questions on stages that wait, what they keep meanwhile, and what travels between them.",
    chapter="pipeline_parallelism",
    questions=[
        Question(
            "A pipeline of {N_stages} equal stages runs {N_MB} microbatches under 1F1B. Which share of its time is "
            "a stage idle?",
            answer=pipeline.bubble_fraction,
            given=[{"N_stages": 8, "N_MB": 16}, {"N_stages": 4, "N_MB": 6}],
            unit="%",
            mistakes={
                "That divides by the work; asked is the share of all time.": plain,
                "A stage waits for the other stages only: one fewer, above the line and below.": N_stages
                / (N_MB + N_stages),
            },
            solution=[
                r"Of the $N_\mathrm{MB} + N_\mathrm{stages} - 1$ passes of a step a stage waits for all but its own "
                r"$N_\mathrm{MB}$.",
                pipeline.bubble_fraction,
            ],
        ),
        Question(
            "Give the time of a step of GPipe from the forward and backward times of a microbatch in a stage, the "
            "stages and the microbatches.",
            answer=pipeline.pipeline_step,
            symbols=(N_MB, N_stages, t_F, t_B),
            mistakes={
                "That is the work of a stage, without its wait.": N_MB * (t_F + t_B),
                "Counted twice: the stage's own pass is in the work already.": (N_MB + N_stages) * (t_F + t_B),
                "The gradients take their way back as well.": N_MB * (t_F + t_B) + (N_stages - 1) * t_F,
            },
            remark="1F1B takes as long: it changes what is kept, and not the way there and back.",
        ),
        Question(
            "A stage may idle {f_bub} of the step. How many microbatches does a plain pipeline of {N_stages} stages"
            " need?",
            answer=(1 - f_bub) * (N_stages - 1) / f_bub,
            given=[{"f_bub": 0.1, "N_stages": 8}, {"f_bub": 0.25, "N_stages": 5}],
            unit="1",
            tolerance=0.01,
            mistakes={
                "That takes the share as one of the work; it is one of all time.": (N_stages - 1) / f_bub,
                "The way there and back takes one stage less.": (1 - f_bub) * N_stages / f_bub,
            },
            solution=[
                "Set the bubble fraction equal to the share, and solve for the microbatches.",
                ((1 - f_bub) * (N_stages - 1) / f_bub, "microbatches"),
            ],
        ),
        Question(
            "Interleaving cuts each of {N_stages} stages into {n_virt} virtual stages; {N_MB} microbatches. By how much is "
            "the step longer than its work?",
            answer=cut,
            given=[{"N_stages": 8, "N_MB": 16, "n_virt": 4}, {"N_stages": 4, "N_MB": 8, "n_virt": 3}],
            unit="%",
            mistakes={
                "That is without interleaving.": plain,
                "There are as many ranks as before, however many virtual stages.": (n_virt * N_stages - 1)
                / (n_virt * N_MB),
                "That is the share of all time.": pipeline.interleaved_fraction,
            },
            tolerance=0.01,
        ),
        Question(
            "In 1F1B, {N_stages} stages and {N_MB} microbatches: of how many microbatches does the stage with "
            "{i_stage} stages before it keep the activations?",
            answer=pipeline.one_f_one_b_held,
            given=[{"N_stages": 8, "N_MB": 32, "i_stage": 2}, {"N_stages": 16, "N_MB": 48, "i_stage": 5}],
            exact=True,
            noun="microbatches",
            mistakes={
                "That is GPipe, which turns round only after all of them.": N_MB,
                "It also keeps the one that it is working on.": N_stages - i_stage - 1,
                "So many keeps the first stage; this one has fewer stages after it.": N_stages,
            },
            solution=[
                "It runs ahead by as many microbatches as stages come after it, and keeps the one it is working on.",
                pipeline.one_f_one_b_held,
            ],
        ),
        Question(
            "Llama 3 70B ({L} layers) runs interleaved on {N_stages} ranks, {n_virt} virtual stages each, {N_MB} "
            "microbatches. The activations of how many layers, each of one microbatch, does the first rank keep at "
            "most?",
            answer=pipeline.first_stage_layers,
            given={"L": llama.layers, "N_stages": 8, "n_virt": 5, "N_MB": 32},
            tolerance=0.005,
            mistakes={
                "That is 1F1B without virtual stages: as many as the model has.": L,
                "That is one virtual stage of a microbatch too many: only the ranks after it count, one fewer than all.": L
                * (1 + N_stages / (n_virt * N_stages)),
                "That would keep all microbatches of the step.": L * N_MB / N_stages,
            },
        ),
        Question(
            "ZB-H1 with {N_stages} stages and {N_MB} microbatches: {t_F} forward, {t_B} backward, of which {t_W} "
            "for the gradients of the weights. How long does a stage wait in a step?",
            answer=pipeline.zb_bubble,
            given=[
                {"N_stages": 8, "N_MB": 32, "t_F": 10 * ms, "t_B": 21 * ms, "t_W": 9 * ms},
                {"N_stages": 4, "N_MB": 16, "t_F": 6 * ms, "t_B": 13 * ms, "t_W": 5 * ms},
            ],
            mistakes={
                "That is 1F1B, which puts nothing off.": pipeline.bubble_time,
                "Putting it off shortens the way back and fills the end as well: it counts twice.": (N_stages - 1)
                * (t_F + t_B - t_W),
            },
        ),
        Question(
            "A batch of {B} tokens of width {D} in bf16 ({b} bytes) goes through a pipeline in {N_MB} microbatches,"
            " over one NIC of {W} from stage to stage. How long does one hop take?",
            answer=hop,
            given={"B": 2**20, "D": llama.d_model, "b": 2, "N_MB": 32, "W": h100.nic_bw},
            mistakes={
                "That sends the whole batch at once.": hop.where(N_MB=1),
                "That counts elements; each has its bytes.": {"b": 1},
                "That is there and back.": 2 * hop.rhs,
            },
        ),
        Question(
            f'Find the error. "Per layer a pipeline costs {PRINTED:g} times the transfer of the batch divided by the '
            'layers." The transfers of the forward pass follow one another. What is the factor for {N_stages} '
            "stages and {N_MB} microbatches?",
            answer=1 + (N_stages - 2) / N_MB,
            given=[{"N_stages": 8, "N_MB": 4}, {"N_stages": 16, "N_MB": 8}],
            unit="1",
            mistakes={
                "Two hops too many: the first microbatch crosses one link fewer than there are stages, and only the "
                "other microbatches add a hop each.": 1 + N_stages / N_MB,
                "That is one hop too many: there is one link fewer than stages.": 1 + (N_stages - 1) / N_MB,
                "That is the hops in all; compare with one transfer of the batch.": N_MB + N_stages - 2,
            },
            solution=[
                r"There are $N_\mathrm{MB} + N_\mathrm{stages} - 2$ hops one after another. Each moves one of "
                r"$N_\mathrm{MB}$ parts of the batch.",
                (1 + (N_stages - 2) / N_MB, "transfers of the whole batch"),
            ],
            remark=f"{PRINTED:g} is right where microbatches are twice the inner stages, and nowhere else.",
        ),
        Question(
            'Find the error. "DualPipe waits (N/2 - 1)(F&B + B - 3W)." {N_stages} stages; {t_F} forward, {t_B} '
            "backward, {t_W} of it for the weights, and the two passes overlap nothing but communication. How long "
            "does a rank really wait?",
            answer=pipeline.dualpipe_bubble,
            given={"N_stages": 16, "t_F": 12 * ms, "t_B": 20 * ms, "t_W": 10 * ms},
            mistakes={
                "That is the quoted one. Here the forward pass is longer than the gradient of the inputs.": said,
                "That is 1F1B.": pipeline.bubble_time,
            },
            solution=pipeline.dualpipe_bubble,
            remark="The published form needs a forward pass as long as the gradient of the inputs. The longer one "
            "of the two sets the pace.",
        ),
        Question(
            "Weights are gathered and gradients scattered for every microbatch (ZeRO-3 inside a pipeline), in bf16 "
            "({b_w} and {b_grad} bytes), among {X} copies with {W} for each GPU of {C}. How many tokens must a "
            "microbatch have, so that arithmetic hides it?",
            answer=pipeline.regather_tokens,
            given={"b_w": 2, "b_grad": 2, "X": 16, "W": h100.nic_bw, "C": h100.bf16},
            tolerance=0.01,
            mistakes={
                "That forgets the second gather: the backward pass needs the weights too.": pipeline.regather_tokens.rhs
                * (b_w + b_grad)
                / (2 * b_w + b_grad),
                "A rank has its own part already.": pipeline.regather_tokens.rhs * X / (X - 1),
            },
            remark="Without a pipeline the whole batch of a copy has to meet this, and not each microbatch.",
        ),
        Question(
            "The output head makes the last of {N_stages} stages {g_stage} times as slow as the others; {N_MB} "
            "microbatches, 1F1B. By how much is the step longer than the work spread evenly?",
            answer=pipeline.uneven_overhead,
            given={"N_stages": 8, "N_MB": 32, "g_stage": 1.25},
            unit="%",
            tolerance=0.01,
            mistakes={
                "That is for equal stages.": plain,
                "That adds the two; but the slow stage paces every microbatch.": plain.rhs + g_stage - 1,
            },
        ),
        Question(
            "A pipeline of {N_stages} stages runs 1F1B, and its profile shows that transfers are exposed all "
            "through the step. What hides them without more arithmetic?",
            given={"N_stages": 8},
            choices=[
                ("letting stages run further ahead", "Then another microbatch fills the trip; it costs memory.", True),
                ("more microbatches", "Each further one exposes nearly two hops more.", False),
                (
                    "GPipe's order with recomputation",
                    "It exposes the fill only, but runs each forward pass twice.",
                    False,
                ),
                ("more stages", "That makes the trips longer.", False),
            ],
        ),
    ],
)
