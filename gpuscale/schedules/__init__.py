"""Schedules: who does what when, in numpy alone, with bytes, idle times and slots to be counted.

collectives: chunks that ranks send each other. pipelines: microbatches in the slots of stages. timelines: requests
for bytes, buckets of gradients and warps on one axis of time. fabrics: flows on the cables of leaf and spine switches.
"""
