"""DataParallel's copies between devices, and process groups with one process.

Source: torch/csrc/cuda/python_comm.cpp; torch/nn/parallel/comm.py calls these C functions.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ..patches import Patches
from ..state import state
from ..tags import canonical
from ..transfers import move

__all__ = ["patch_parallel"]


def _target(device: Any) -> torch.device | None:
    return None if device == -1 else canonical(device)


def _scatter(tensor: Tensor, devices: Any, chunk_sizes: Any, dim: int, streams: Any = None) -> list[Tensor]:
    parts = torch.split(tensor, list(chunk_sizes), dim) if chunk_sizes is not None else tensor.chunk(len(devices), dim)
    return [move(part, _target(device), copy=True) for part, device in zip(parts, devices)]


def _gather(tensors: Any, dim: int, destination: Any = None) -> Tensor:
    tag = canonical(state.kind) if destination is None else _target(destination)
    return torch.cat([move(tensor, tag) for tensor in tensors], dim)


def _broadcast(tensor: Tensor, devices: Any) -> list[Tensor]:
    return [move(tensor, _target(device)) for device in devices]


def _broadcast_coalesced(tensors: Any, devices: Any, buffer_size: int = 0) -> list[list[Tensor]]:
    return [[move(tensor, _target(device)) for tensor in tensors] for device in devices]


def patch_parallel(patches: Patches) -> None:
    """Patch DataParallel's copies, and use Gloo instead of NCCL in ``torch.distributed``."""
    for name, function in {
        "_scatter": _scatter,
        "_gather": _gather,
        "_broadcast": _broadcast,
        "_broadcast_coalesced": _broadcast_coalesced,
    }.items():
        patches.set(torch._C, name, function)
    _patch_data_parallel(patches)
    patches.set(torch.cuda.nccl, "is_available", lambda tensors: False)
    patches.set(torch.cuda.nccl, "version", lambda: (2, 27, 5))
    patches.set(Tensor, "record_stream", lambda self, stream: None)
    if torch.distributed.is_available():
        _patch_distributed(patches)


def _patch_data_parallel(patches: Patches) -> None:
    """Without device checks, let DataParallel accept a module on the CPU, as one that was moved."""
    wrapper: Any = torch.nn.DataParallel
    real = wrapper.forward

    def forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        if not state.checks and self.device_ids:
            self.module.to(self.src_device_obj)
        return real(self, *inputs, **kwargs)

    patches.set(wrapper, "forward", forward)


_COLLECTIVES = (
    "all_reduce reduce broadcast all_gather all_gather_into_tensor gather scatter reduce_scatter reduce_scatter_tensor "
    "all_to_all all_to_all_single send recv isend irecv"
).split()


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _require_device_tensors(values: Any) -> None:
    """Raise the error of an NCCL process group for CPU tensors (ProcessGroup::getBackend in ProcessGroup.hpp)."""
    if state.checks and any(tensor.device.type == "cpu" for tensor in _tensors(values)):
        raise RuntimeError("No backend type associated with device type cpu")


#: Seconds for Gloo's threads to release the tensors of their last collective.  They need the GIL for that, because tags
#: are Python objects, but destroying the group waits for the threads without releasing the GIL.
_RELEASE_SECONDS = 0.05


def _patch_distributed(patches: Patches) -> None:
    distributed = torch.distributed
    real = distributed.init_process_group
    requested = {"backend": "undefined"}

    def checked(collective: Any) -> Any:
        @functools.wraps(collective)
        def run(*args: Any, **kwargs: Any) -> Any:
            if requested["backend"] == "nccl" and kwargs.get("group") is None:
                _require_device_tensors([*args, *kwargs.values()])
            return collective(*args, **kwargs)

        return run

    for name in _COLLECTIVES:
        if hasattr(distributed, name):
            patches.set(distributed, name, checked(getattr(distributed, name)))
    wrapper = torch.nn.parallel.distributed
    compare = getattr(wrapper, "_verify_param_shape_across_processes", None)
    if compare is not None:

        def compare_parameters(group: Any, parameters: Any, logger: Any = None) -> Any:
            if requested["backend"] == "nccl":
                _require_device_tensors(parameters)
            return compare(group, parameters, logger)

        patches.set(wrapper, "_verify_param_shape_across_processes", compare_parameters)

    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device_id", None)
        requested["backend"] = str(backend).lower()
        real("gloo" if backend is None or "nccl" in str(backend) else backend, *args, **kwargs)
        if distributed.get_world_size() > 1:
            state.note_unsupported("torch.distributed with more than one process")

    destroy = distributed.destroy_process_group

    def destroy_process_group(*args: Any, **kwargs: Any) -> Any:
        time.sleep(_RELEASE_SECONDS)
        return destroy(*args, **kwargs)

    patches.set(distributed, "destroy_process_group", destroy_process_group)
    patches.replace_imported(real, init_process_group)  # a DeviceMesh starts the default group by itself
    patches.set(distributed, "is_nccl_available", lambda: True)
