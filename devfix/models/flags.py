"""Names of a program's own flags, by the configuration that they select.

A Python table for now; it becomes stub data.
"""

from __future__ import annotations

__all__ = [
    "ACCELERATOR_FLAGS",
    "ACCELERATOR_WORDS",
    "CPU_FLAGS",
    "DECLINING_WORDS",
    "DEVICE_COUNTS",
    "DEVICE_LISTS",
    "MULTI_PROCESS_FLAGS",
    "OTHER_WORDS",
]


# Last parts of flag names.  By default, the analysis follows the run with one accelerator and one process.
ACCELERATOR_FLAGS = frozenset(
    "cuda use_cuda usecuda gpu use_gpu gpu_mode usegpu on_gpu with_cuda with_gpu enable_cuda enable_gpu cuda_available "
    "gpu_available has_cuda has_gpu is_cuda train_on_gpu accel use_accel accelerator mps use_mps".split()
)
CPU_FLAGS = frozenset(
    "no_cuda nocuda no_gpu nogpu cpu use_cpu cpu_only only_cpu force_cpu disable_cuda disable_gpu no_accel no_mps "
    "on_cpu run_on_cpu".split()
)
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
