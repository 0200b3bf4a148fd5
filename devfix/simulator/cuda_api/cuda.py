"""``torch.cuda`` and ``torch.accelerator`` of the simulated machine."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from ..forks import is_in_bad_fork
from ..patches import Patches
from ..state import state
from . import graphs, streams, timeline
from .cards import Properties
from .memory import memory_functions
from .timeline import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    device_at,
    device_index,
    set_stream,
)

__all__ = ["patch_cuda"]

_SYSTEM_RANDOM = random.SystemRandom()


class _DeviceContext:
    """Context manager ``torch.cuda.device(index)``."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None or device == -1 else device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = state.current
        if self.idx >= 0:
            state.current = self.idx

    def __exit__(self, *_: Any) -> None:
        state.current = self.prev_idx


def _device_of(value: Any) -> _DeviceContext:
    device = getattr(value, "device", None)
    return _DeviceContext(device if device is not None and device.type == state.kind else None)


def _set_device(device: Any) -> None:
    if not isinstance(device, int) or device >= 0:
        state.current = device_index(device)


def _unsupported(name: str) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        state.note_unsupported(name)
        raise RuntimeError(f"{name} is not supported by the simulated device")

    return fail


def _constant(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _get_rng_state(device: Any = None) -> torch.Tensor:
    if state.shared_random:
        return torch.default_generator.get_state()
    return streams.generator_for(device_at(device_index(device))).get_state()


def _set_rng_state(new_state: torch.Tensor, device: Any = None) -> None:
    if state.shared_random:
        torch.default_generator.set_state(new_state)
        return
    streams.generator_for(device_at(device_index(device))).set_state(new_state)


def _set_rng_state_all(states: Any) -> None:
    for index, each in enumerate(states):
        _set_rng_state(each, index)


def _manual_seed(seed: Any) -> None:
    streams.generator_for(device_at()).manual_seed(int(seed))  # as PyTorch does: a number of NumPy will do


def _visible_devices() -> int:
    """Return the number of devices; 0 if the program set CUDA_VISIBLE_DEVICES to nothing before using one."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    hidden = state.kind == "cuda" and visible in ("", "-1") and visible != state.visible_before
    return 0 if hidden and state.work.device_operations == 0 else state.count


def _capability(device: Any = None) -> Any:
    """Return the compute capability of CUDA devices, and the properties of XPU devices as a dictionary."""
    properties = Properties(device_index(device))
    return (properties.major, properties.minor) if state.kind == "cuda" else vars(properties)


def _functions() -> dict[str, Any]:
    return {
        **memory_functions(),
        "is_available": lambda: _visible_devices() > 0,
        "is_initialized": lambda: not is_in_bad_fork(),
        "is_bf16_supported": lambda *_, **__: True,
        "is_tf32_supported": lambda: True,
        "device_count": _visible_devices,
        "_device_count_nvml": _visible_devices,
        "current_device": lambda: state.current,
        "set_device": _set_device,
        "device": _DeviceContext,
        "device_of": _device_of,
        "get_device_name": lambda device=None: Properties(device_index(device)).name,
        "get_device_capability": _capability,
        "get_device_properties": lambda device=None: Properties(device_index(device)),
        "can_device_access_peer": lambda device, peer: device_index(device) != device_index(peer),
        "get_arch_list": lambda: ["sm_80"],
        "get_gencode_flags": lambda: "",
        "utilization": lambda *_: 0,
        "memory_usage": lambda *_: 1,
        "temperature": lambda *_: 40,
        "power_draw": lambda *_: 0,
        "clock_rate": lambda *_: 0,
        "current_blas_handle": lambda: 0,
        "current_solver_handle": lambda: 0,
        "Stream": Stream,
        "Event": Event,
        "ExternalStream": ExternalStream,
        "StreamContext": StreamContext,
        "stream": StreamContext,
        "set_stream": set_stream,
        "current_stream": current_stream,
        "default_stream": default_stream,
        "is_current_stream_capturing": graphs.is_capturing,
        "manual_seed": _manual_seed,
        "manual_seed_all": streams.seed_all,
        "seed": lambda: _manual_seed(_SYSTEM_RANDOM.getrandbits(63)),
        "seed_all": lambda: streams.seed_all(torch.initial_seed()),
        "initial_seed": lambda: streams.generator_for(device_at()).initial_seed(),
        "get_rng_state": _get_rng_state,
        "get_rng_state_all": lambda: [_get_rng_state(index) for index in range(state.count)],
        "set_rng_state": _set_rng_state,
        "set_rng_state_all": _set_rng_state_all,
        "_is_in_bad_fork": is_in_bad_fork,
        "CUDAGraph": graphs.CUDAGraph,
        "graph": graphs.Graph,
        "make_graphed_callables": graphs.make_graphed_callables,
        "graph_pool_handle": graphs.graph_pool_handle,
        "MemPool": graphs.MemPool,
        "use_mem_pool": lambda *_, **__: nullcontext(),
        "_sleep": lambda *_: None,
    }


#: Names that PyTorch's own modules import from a build with CUDA (torch/_inductor/cudagraph_trees.py).
_BUILT_NAMES = ("_cuda_CUDAAllocator_AllocatorState", "_set_cached_tensors_enabled")


def patch_cuda(patches: Patches) -> None:
    """Patch ``torch.cuda`` (or the module of the simulated device type) and ``torch.accelerator``."""
    timeline.reset()
    module = getattr(torch, state.kind)
    parts = [getattr(module, name, None) for name in ("random", "memory", "streams", "graphs")]
    for name, value in _functions().items():
        if hasattr(module, name) or name in ("is_available", "device_count", "current_device"):
            patches.set(module, name, value)
        for part in parts:
            if part is not None and name in vars(part):
                patches.set(part, name, value)
    if state.kind == "mps":
        patches.set(torch.backends.mps, "is_available", lambda: True)
        patches.set(torch.backends.mps, "is_built", lambda: True)
    if state.kind == "cuda":
        patches.set(torch.cuda, "default_generators", streams.generators())
        for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
            patches.set(torch.cuda.nvtx, name, lambda *_, **__: 0)
        patches.set(torch.backends.cuda, "is_built", lambda: True)
        for name in _BUILT_NAMES:
            if not hasattr(torch._C, name):
                patches.set(torch._C, name, type(name, (), {}))
        patches.set(torch._C, "_cuda_getCurrentRawStream", lambda device: 0)
        patches.set(torch.version, "cuda", "12.6")
        patches.set(torch._C, "_cuda_jiterator_compile_and_launch_kernel", _unsupported("torch.cuda.jiterator"))
        patches.set(torch.backends.cudnn, "version", lambda: 90100)
        patches.set(torch.backends.cudnn, "is_available", lambda: True)
        patches.set(torch.backends.cudnn, "is_acceptable", lambda tensor: False)  # do not flatten weights for cuDNN
        patches.set(torch._utils, "_get_available_device_type", lambda: "cuda")
    patches.set(torch, "Stream", Stream)
    patches.set(torch, "Event", Event)
    _patch_accelerator(patches)


def _patch_accelerator(patches: Patches) -> None:
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:  # torch < 2.6
        return
    if hasattr(torch._C, "_get_accelerator"):
        patches.set(torch._C, "_get_accelerator", lambda *_: torch.device(state.kind))
    for name, value in {
        "is_available": lambda: _visible_devices() > 0,
        "device_count": _visible_devices,
        "current_accelerator": lambda check_available=False: torch.device(state.kind),
        "current_device_index": lambda: state.current,
        "current_device_idx": lambda: state.current,
        "set_device_index": _set_device,
        "set_device_idx": _set_device,
        "device_index": _DeviceContext,
        "current_stream": current_stream,
        "set_stream": set_stream,
        "synchronize": lambda *_: None,
        **{
            name: function
            for name, function in memory_functions().items()
            if name
            in (
                "empty_cache",
                "memory_stats",
                "memory_allocated",
                "max_memory_allocated",
                "memory_reserved",
                "max_memory_reserved",
                "reset_peak_memory_stats",
                "reset_accumulated_memory_stats",
            )
        },
    }.items():
        if hasattr(accelerator, name):
            patches.set(accelerator, name, value)
