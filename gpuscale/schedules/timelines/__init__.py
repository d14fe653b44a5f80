"""Timelines: requests in flight, buckets of gradients behind a backward pass, warps of a block."""
