"""A planner: the best parallelism for a model on a cluster, its cost, and why the rest is excluded.

    from gpuscale.plan import plan
    plan("llama3_70b", "h100_superpod", gpus=4096, batch="4M")

From the shell: ``python -m gpuscale.plan --model llama3-70b --cluster h100-superpod --gpus 4096 --batch 4M``.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    calibration="Calibration Run calibrate load_calibration read_runs shipped",
    clusters="Cluster cluster",
    errors="Refusal",
    expected="expected_times ExpectedTimes",
    batch="evaluate_choices",
    choice="Choice",
    outcome="Outcome Outcomes",
    search="Plan evaluate_choice plan",
    requests="Request request",
)
