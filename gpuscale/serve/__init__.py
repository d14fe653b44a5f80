"""The planner of serving: layouts of a model on GPUs by throughput and price, within limits of latency.

    from gpuscale.serve import serve
    serve("llama3_70b", "h100_sxm", gpus=8, input=2000, output=500, ttft=1, tpot="30ms")

From the shell: ``python -m gpuscale.serve --model llama3-70b --gpu h100-sxm --gpus 8 --input 2000 --output 500``.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    deployment="Deployment Replicas",
    engines="Engine engine_of",
    requests="ServingRequest request",
    search="ServingPlan serve",
)
