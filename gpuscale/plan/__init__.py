"""A planner: the best parallelism for a model on a cluster, its cost, and why the rest is excluded.

    from gpuscale.plan import plan
    plan("llama3_70b", "h100_superpod", gpus=4096, batch="4M")

A model may be the path of a Hugging Face ``config.json``, a cluster the path of a TOML file or
``own_cluster("h100_sxm", per_node=8, nic="400 Gbit/s")``.
From the shell: ``python -m gpuscale.plan --model llama3-70b --cluster h100-superpod --gpus 4096 --batch 4M``.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    batch="evaluate_choices",
    calibration="Calibration load_calibration shipped usual",
    choice="Choice",
    clusters="Cluster cluster own_cluster",
    errors="Refusal",
    explanation="Explanation explain",
    fit="calibrate",
    memory_fit="fit_memory out_of_memory",
    memory_parts="GpuBytes gpu_bytes memory_page",
    network_fit="NetworkFit fit_network",
    network_logs="Sweep read_logs",
    outcome="Outcome Outcomes",
    quality="MemoryQuality memory_quality time_quality",
    requests="Request request",
    runs="Run read_failures read_runs",
    search="Plan evaluate_choice plan",
    stages="stage_layers stage_memory",
    worked_formulas="worked",
)
