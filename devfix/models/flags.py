"""Names of a program's own flags, by the configuration that they select.

A Python table for now; it becomes stub data.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = [
    "ACCELERATOR_WORDS",
    "DECLINING_WORDS",
    "DEVICE_COUNTS",
    "DEVICE_LISTS",
    "MULTI_PROCESS_FLAGS",
    "NO_VISIBLE_DEVICES",
    "OTHER_WORDS",
    "VISIBLE_DEVICES",
    "asks_for_accelerator",
    "asks_for_tpu",
]


_ACCELERATORS = frozenset("cuda gpu accel accelerator mps".split())
_CPU = frozenset({"cpu"})
_TPU = frozenset({"tpu", "xla"})
_DECLINING = frozenset("no not without disable disabled".split())
_OF_FLAGS = frozenset(
    "use used using with on is enable enabled has available mode train training run only force".split()
)
_WORD = re.compile(r"cuda|gpu|cpu|[a-z]+?(?=cuda|gpu|cpu|[^a-z]|$)")


@lru_cache(maxsize=4096)
def asks_for_accelerator(name: str) -> bool | None:
    """Return whether a flag of this name asks for the accelerator: ``use_cuda``, or for none: ``no_gpu``, ``cpu_only``.

    ``None`` for other names: ``gpu_metrics``, ``device``.  By default, the analysis follows the run with one
    accelerator and one process.
    """
    words = frozenset(_WORD.findall(name.lower()))
    accelerators, others = words & _ACCELERATORS, words - _OF_FLAGS
    if accelerators and others <= _ACCELERATORS | _DECLINING:
        return words.isdisjoint(_DECLINING)
    return False if others == _CPU else None


def asks_for_tpu(name: str) -> bool:
    """Return whether a flag of this name asks for an accelerator of another back end: ``is_torch_tpu_available``."""
    words = frozenset(_WORD.findall(name.lower())) - _OF_FLAGS - {"torch"}
    return bool(words) and words <= _TPU


MULTI_PROCESS_FLAGS = frozenset(
    "distributed ddp use_ddp is_distributed multiprocessing_distributed dist use_dist fsdp use_fsdp "
    "using_distributed enable_ddp is_ddp is_dist".split()
)
# Last parts of names that count accelerators; the count is 1.
DEVICE_COUNTS = frozenset("num_devices n_devices num_gpus num_gpu n_gpus n_gpu ngpus ngpu gpu_count".split())
# Last parts of names that list accelerators; the list has one.
DEVICE_LISTS = frozenset("gpu_ids gpus gpuids gpu_list device_ids".split())
# Words of other flags: those that ask for an accelerator, those that turn the question round, and those of other
# questions about accelerators (``multi_gpu``, ``gpu_metrics``).
ACCELERATOR_WORDS = frozenset("cuda gpu".split())
DECLINING_WORDS = frozenset("no not disable without cpu".split())
OTHER_WORDS = frozenset(
    "multi several many all parallel distributed num count n metrics memory stats benchmark deterministic pin sync "
    "graph graphs amp fp half profile log info verbose version".split()
)
# Environment variables that list the visible accelerators, and values with which there are none:
# https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html
VISIBLE_DEVICES = frozenset({"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
NO_VISIBLE_DEVICES = frozenset({"", "-1"})
