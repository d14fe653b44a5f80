"""Practice questions on the ways to split a model."""

from gpuscale import measured
from gpuscale.collectives import all_reduce_bytes
from gpuscale.llm import counts, data_parallel, pipeline
from gpuscale.quiz import Question, QuestionSet
from gpuscale.specs import model
from gpuscale.symbols import N_MB, B, D, E, N_gpu, N_stages, P, P_layer, S, X, Y, Z, b, b_grad, n_cp

llama, small = counts("llama3_405b"), counts("llama3_8b")
run = measured("llama3_stages").row(stage="16k GPUs")
long = measured("llama3_stages").row(stage="long context")
deepseek = model("deepseek_v3")
TABLE = "The table of Llama 3 in this chapter has the degrees."

# What a GPU sends in a step for one layer of Llama 3 8B: 8 GPUs, a sequence of 8,192 tokens each
GPUS, TOKENS = 8, 8 * model("llama3_8b").train_seq
gradients = all_reduce_bytes.where(V=b_grad * P_layer, N=X).rhs
between = 4 * all_reduce_bytes.where(V=b * B * D, N=X).rhs
hops = 2 * pipeline.hop_bytes.rhs * N_MB * N_stages / 32
sizes = {"b_grad": 2, "P_layer": small.P_layer, "X": GPUS, "b": 2, "B": TOKENS, "D": small.inputs["D"]}

questions = QuestionSet(
    "splitting_a_model",
    "Splitting a model over GPUs",
    intro="Questions on what each GPU stores, what moves, and how the degrees of parallelism multiply.",
    chapter="splitting_a_model",
    questions=[
        Question(
            "Llama 3 405B was trained on 16,384 GPUs with tensor, pipeline and data parallelism. How many parameters does "
            "each GPU store, if they are spread evenly and data parallelism repeats them?",
            answer=P / (Y * N_stages),
            given={"P": llama.P, "Y": run["tp"], "N_stages": run["pp"], "X": run["dp"]},
            unit="1",
            hint=TABLE + " The model has 406 billion parameters.",
            mistakes={
                "Data parallelism splits the batch; the weights are repeated.": P / (X * Y * N_stages),
                "Tensor parallelism splits each layer too.": P / N_stages,
            },
        ),
        Question(
            "A job has {N_gpu:count} GPUs. Tensor parallelism takes 8 GPUs, context parallelism 16, and the pipeline has 16 "
            "stages. How many copies of the model train side by side?",
            answer=N_gpu / (Y * n_cp * N_stages),
            given={"N_gpu": long["gpus"], "Y": long["tp"], "n_cp": long["cp"], "N_stages": long["pp"]},
            unit="1",
            noun="copies",
            exact=True,
            mistakes={
                "The GPUs that share a sequence work on one copy together.": N_gpu / (Y * N_stages),
                "Both the stages of a pipeline and the GPUs that share a sequence belong to one copy.": N_gpu / Y,
            },
            remark="Llama 3 trained on long sequences like this. Its report prints 4 copies for this stage, which does not "
            "multiply to its number of GPUs.",
        ),
        Question(
            "A training step of Llama 3 405B on 16,384 GPUs works on 2,048 sequences of 8,192 tokens. How many tokens does one "
            "copy of the model get?",
            answer=data_parallel.dp_tokens,
            given={"B": 2048 * 8192, "X": run["dp"], "N_gpu": run["gpus"]},
            unit="1",
            noun="tokens",
            hint=TABLE,
            mistakes={"All GPUs of a copy work on the same tokens.": B / N_gpu},
        ),
        Question(
            "With context parallelism over {n_cp:count} GPUs, a sequence has {S:count} tokens. How many of them does each "
            "GPU hold?",
            answer=S / n_cp,
            given={"n_cp": long["cp"], "S": long["seq"]},
            unit="1",
            noun="tokens",
            exact=True,
            mistakes={"Context parallelism splits the sequence.": S},
        ),
        Question(
            "DeepSeek-V3 spreads the experts of each layer over {Z:count} GPUs. How many experts of a layer does each GPU store?",
            answer=E / Z,
            given={"E": deepseek.experts, "Z": 64},
            unit="1",
            noun="experts",
            exact=True,
            hint="A layer has 256 routed experts.",
            mistakes={"Those are all experts of the layer.": E},
            fixed="a published run",
        ),
        Question(
            "The weights of a model do not fit on one GPU. Which of these makes them fit, without any other change?",
            choices=[
                ("data parallelism", "Every GPU still stores all weights.", False),
                ("context parallelism", "It splits the sequence; every GPU still stores all weights.", False),
                ("tensor parallelism", "Each GPU stores a part of every weight matrix.", True),
                ("a smaller batch", "The batch changes the activations, not the weights.", False),
            ],
        ),
        Question(
            "Which two kinds of parallelism leave every GPU with all weights, so that the gradients of all GPUs have to be added up?",
            choices=[
                ("tensor and pipeline", "Both split the weights.", False),
                ("data and context", "Both split the tokens: one by sequences, and one within each sequence.", True),
                ("expert and tensor", "Both split the weights of a layer.", False),
                ("pipeline and data", "A pipeline gives each GPU different layers.", False),
            ],
        ),
        Question(
            'Find the error: "We train on 8 GPUs with data parallelism, so each GPU stores an eighth of the weights of Llama 3 '
            '8B in bf16." How many bytes of weights does each GPU store?',
            answer=b * P,
            given={"b": 2, "P": small.P, "X": 8},
            unit="B",
            hint="The model has 8.03 billion parameters.",
            mistakes={
                "That is what the sentence claims. What does data parallelism split?": b * P / X,
                "A bf16 weight has two bytes.": P * b / 2,
            },
        ),
        Question(
            "Four GPUs start from the same weights, and each trains on sequences of its own. Suppose they never send each other "
            "anything. What happens to their weights?",
            predict=True,
            choices=[
                ("they stay equal", "Different sequences give different gradients.", False),
                ("they drift apart", "Each GPU updates its copy with gradients of its own.", True),
                ("each GPU learns a quarter of them", "Each GPU has gradients for all weights.", False),
            ],
            solution="They drift apart. Different sequences give different gradients, so from the first update on, the GPUs "
            "train four different models. To train one model, they have to use the same gradients.",
        ),
        Question(
            "You double the tokens per GPU. Which kind of parallelism does not send more bytes per step?",
            predict=True,
            choices=[
                ("data parallelism", "It sends gradients, one number per weight.", True),
                ("tensor parallelism", "It sends activations, a vector for each token.", False),
                ("pipeline parallelism", "It sends activations, a vector for each token.", False),
            ],
            solution="Data parallelism. It sends gradients, and there are as many of those as weights, whatever the batch. "
            "The other two send activations, one vector per token.",
        ),
        Question(
            "Eight GPUs train Llama 3 8B, with 65,536 tokens per step in all. Which kind of parallelism makes a GPU send "
            "the most bytes per layer?",
            predict=True,
            pick="largest",
            given=sizes | {"N_stages": 8},
            choices=[
                ("data parallelism", "Each gradient is sent about twice, once per step.", gradients),
                (
                    "tensor parallelism",
                    "It sends the activations of all tokens, in four all-reduces per layer.",
                    between,
                ),
                ("pipeline parallelism", "It sends activations too, but only between stages.", hops),
            ],
            solution="Tensor parallelism. It sends the activations of all tokens in every layer, several times. A pipeline sends "
            "them only between its stages, and data parallelism sends gradients only once.",
        ),
    ],
)
