"""Practice questions on the roofline."""

from gpuscale import chip, measured
from gpuscale.ledger import claim
from gpuscale.one_gpu import roofline
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import B, B_rule, D, F, W_hbm, alpha, b, flop, n

a100, h100, h200, b200 = (chip(k) for k in ("a100_sxm", "h100_sxm", "h200_sxm", "b200_sxm"))
I_H100 = roofline.ridge_point(C=h100.bf16, W_hbm=h100.hbm_bw)
RULE_H100 = roofline.rule_batch(I_ridge=I_H100, b_w=2)
_, long = measured("vector_add_h100").rows
math, traffic = roofline.matmul_math_time.rhs, roofline.matmul_memory_time.rhs
stream = 3 * b * n / W_hbm
layer = {"D": 8192, "F": 28672, "b": 2, "b_w": 2, "C": h100.bf16, "W_hbm": h100.hbm_bw}

questions = QuestionSet(
    "roofline",
    "The roofline",
    intro="Questions on intensity, ridge points and the two clocks of a kernel.",
    chapter="roofline",
    questions=[
        Question(
            "An H200 is an H100 with a faster memory: {C} in bf16 and {W_hbm}. What is its ridge point?",
            answer=roofline.ridge_point,
            given={"C": h200.bf16, "W_hbm": h200.hbm_bw},
            mistakes={"That is the memory of an H100.": {"W_hbm": h100.hbm_bw}},
            remark="The faster the memory, the smaller the batch that keeps the Tensor Cores busy.",
        ),
        Question(
            "A decoding step multiplies {B} rows by a {D} by {F} matrix in bf16 on an H100 ({C}, {W_hbm}). How "
            "long does "
            "it take at best?",
            answer=roofline.matmul_time,
            given=[layer | {"B": 8}, layer | {"B": 32}],
            mistakes={
                "That is the arithmetic alone; reading the weights takes longer.": math,
                "The weights have two bytes an element.": {"b": 1, "b_w": 1},
            },
            solution=[
                (traffic, "few rows: memory sets the pace"),
                (roofline.matmul_time.rhs, "the larger of the two"),
            ],
        ),
        Question(
            "The same matrix (D = {D}, F = {F}) with {B} rows on the same H100 ({C}, {W_hbm}). What would "
            "shorten it most?",
            given=layer | {"B": 16},
            choices=[
                ("twice the FLOP/s", "Arithmetic takes a small part of the time here.", math > traffic),
                ("twice the HBM bandwidth", "Nearly all the time goes into reading weights.", math < traffic),
                (
                    "half the rows",
                    "The weights are read all the same, so the time would hardly change.",
                    False,
                ),
            ],
        ),
        Question(
            "Give the arithmetic intensity of a product [B, D] times [D, F] with b bytes an element, in the "
            "limit of very "
            "wide matrices. Leave the unit FLOP out.",
            answer=2 * flop * B / b,
            unit="FLOP/B",
            symbols=(B, D, F, b),
            mistakes={
                "That is for two bytes an element; keep b.": B,
                "That is exact; now let D and F grow without bound.": roofline.matmul_intensity.rhs,
                "A multiply-add is two operations.": flop * B / b,
                "Each element has b bytes, and the weights are read once.": flop * B / (2 * b),
            },
            solution=[
                (roofline.matmul_intensity.rhs, "operations over bytes"),
                (roofline.matmul_intensity.approx, "D and F far larger than B"),
            ],
        ),
        Question(
            "From which batch is a {D} by {F} product compute-bound on an H100, exactly? Its rule for wide "
            "matrices gives "
            "{B_rule:4} rows.",
            answer=roofline.critical_batch,
            given=[
                {"B_rule": RULE_H100, "D": 4096, "F": 4096},
                {"B_rule": RULE_H100, "D": 2048, "F": 8192},
            ],
            noun="rows",
            mistakes={
                "That is the rule; the inputs and outputs move as well.": B_rule,
                "That leaves out the output.": B_rule * F / (F - B_rule),
            },
        ),
        Question(
            'Find the error. "On an H100 a product is compute-bound from about '
            f"{claim('gpus:Q1.3a').published:g} rows on, "
            'so our {D} by {F} layer with 400 rows runs at peak." The rule gives {B_rule:4} rows; from how many '
            "rows on is it true?",
            answer=roofline.critical_batch,
            given={"B_rule": RULE_H100, "D": 1024, "F": 1024},
            noun="rows",
            mistakes={"That is the rule itself, which holds for much wider matrices.": B_rule},
            remark="The rule is a limit: at this width it is off by more than a factor of two.",
        ),
        Question(
            "Square products, D = F, never become compute-bound up to a certain width. Which, if the rule for "
            "wide matrices "
            "gives {B_rule:4} rows?",
            answer=2 * B_rule,
            given={"B_rule": RULE_H100},
            unit="1",
            noun="columns",
            mistakes={"Both the input and the output rows count.": B_rule},
            solution=[(2 * B_rule, "where D F = B_rule (D + F) with D = F")],
        ),
        Question(
            "Weights are stored in fp8, the arithmetic stays in bf16. From which batch is a very wide product "
            "compute-bound on an H100 (ridge point {I_ridge:4} in bf16)?",
            answer=roofline.rule_batch,
            given={"I_ridge": I_H100, "b_w": 1},
            noun="rows",
            mistakes={"That is with weights of two bytes.": {"b_w": 2}},
        ),
        Question(
            "A kernel takes {alpha} to start. How many fp32 elements must a vector sum have on an H100 ({W_hbm}) "
            "so that its "
            "bytes take as long as its start?",
            answer=roofline.launch_bound_length,
            given=[
                {"alpha": 2e-6, "b": 4, "W_hbm": h100.hbm_bw},
                {"alpha": 5e-6, "b": 4, "W_hbm": h100.hbm_bw},
            ],
            noun="elements",
            mistakes={
                "Three vectors move, not one.": alpha * W_hbm / b,
                "An fp32 number has four bytes.": {"b": 1},
            },
        ),
    ],
)
