"""Serving language models: a decode step, prefill, the cache and its blocks, batches of requests, many GPUs."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__)
