"""``torch.cuda`` and ``torch.accelerator`` of the simulated machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

from ..patches import Patches
from ..state import state
from . import streams, timeline
from .timeline import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    device_at,
    device_index,
    set_stream,
)

__all__ = ["patch_cuda"]

_GIBIBYTE = 1 << 30


class _Properties:
    """Result of ``torch.cuda.get_device_properties``."""

    def __init__(self, index: int) -> None:
        self.name = "Simulated device"
        self.major, self.minor = 8, 0
        self.total_memory = 16 * _GIBIBYTE
        self.multi_processor_count = 16
        self.max_threads_per_multi_processor = 2048
        self.regs_per_multiprocessor = 65536
        self.warp_size = 32
        self.is_multi_gpu_board = 0
        self.is_integrated = 0
        self.gcnArchName = ""
        self.uuid = f"00000000-0000-0000-0000-{index:012d}"
        self.L2_cache_size = 4 << 20

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count})"
        )


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


def _get_rng_state(device: Any = "cuda") -> torch.Tensor:
    return streams.generator_for(device_at(device_index(device))).get_state()


def _set_rng_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
    streams.generator_for(device_at(device_index(device))).set_state(new_state)


def _set_rng_state_all(states: Any) -> None:
    for index, each in enumerate(states):
        _set_rng_state(each, index)


def _manual_seed(seed: int) -> None:
    streams.generator_for(device_at()).manual_seed((int(seed) + streams._OFFSET) % 2**63)


def _memory_functions() -> dict[str, Callable[..., Any]]:
    amount = 64 << 20
    memory_figures = [
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "max_memory_reserved",
        "memory_cached",
        "max_memory_cached",
        "device_memory_used",
    ]
    without_effect = [
        "caching_allocator_enable",
        "empty_cache",
        "ipc_collect",
        "reset_peak_memory_stats",
        "reset_max_memory_allocated",
        "reset_max_memory_cached",
        "reset_accumulated_memory_stats",
        "reset_peak_host_memory_stats",
        "reset_accumulated_host_memory_stats",
        "set_per_process_memory_fraction",
        "set_sync_debug_mode",
        "synchronize",
        "init",
        "_lazy_init",
    ]
    table: dict[str, Callable[..., Any]] = {name: _constant(amount) for name in memory_figures}
    table.update({name: _constant(None) for name in without_effect})
    table["mem_get_info"] = _constant((15 * _GIBIBYTE, 16 * _GIBIBYTE))
    table["memory_stats"] = lambda *_, **__: {"allocated_bytes.all.current": amount, "allocated_bytes.all.peak": amount}
    table["memory_stats_as_nested_dict"] = lambda *_, **__: {
        "allocated_bytes": {"all": {"current": amount, "peak": amount}}
    }
    table["host_memory_stats"] = table["host_memory_stats_as_nested_dict"] = lambda *_, **__: {}
    table["memory_snapshot"] = lambda *_, **__: []
    table["get_per_process_memory_fraction"] = _constant(1.0)
    table["get_allocator_backend"] = _constant("native")
    table["get_sync_debug_mode"] = _constant(0)
    table["memory_summary"] = _constant("simulated device: memory is not modeled")
    table["list_gpu_processes"] = _constant("simulated device: no processes are running")
    return table


def _visible_devices() -> int:
    """Return the number of devices; 0 if the program set CUDA_VISIBLE_DEVICES to nothing before using one."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    hidden = state.kind == "cuda" and visible in ("", "-1") and visible != state.visible_before
    return 0 if hidden and state.work.device_operations == 0 else state.count


def _functions() -> dict[str, Any]:
    return {
        **_memory_functions(),
        "is_available": lambda: _visible_devices() > 0,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *_, **__: True,
        "is_tf32_supported": lambda: True,
        "device_count": _visible_devices,
        "_device_count_nvml": _visible_devices,
        "current_device": lambda: state.current,
        "set_device": _set_device,
        "device": _DeviceContext,
        "device_of": _device_of,
        "get_device_name": lambda device=None: _Properties(device_index(device)).name,
        "get_device_capability": lambda device=None: (8, 0),
        "get_device_properties": lambda device=None: _Properties(device_index(device)),
        "can_device_access_peer": lambda device, peer: device_index(device) != device_index(peer),
        "get_arch_list": lambda: ["sm_80"],
        "get_gencode_flags": lambda: "",
        "utilization": lambda *_: 0,
        "memory_usage": lambda *_: 0,
        "temperature": lambda *_: 40,
        "power_draw": lambda *_: 0,
        "clock_rate": lambda *_: 0,
        "current_blas_handle": lambda: 0,
        "current_solver_handle": lambda: 0,
        "Stream": Stream,
        "Event": Event,
        "ExternalStream": _unsupported("torch.cuda.ExternalStream"),
        "StreamContext": StreamContext,
        "stream": StreamContext,
        "set_stream": set_stream,
        "current_stream": current_stream,
        "default_stream": default_stream,
        "is_current_stream_capturing": lambda: False,
        "manual_seed": _manual_seed,
        "manual_seed_all": streams.seed_all,
        "seed": lambda: _manual_seed(torch.default_generator.seed()),
        "seed_all": lambda: streams.seed_all(torch.initial_seed()),
        "initial_seed": lambda: streams.generator_for(device_at()).initial_seed(),
        "get_rng_state": _get_rng_state,
        "get_rng_state_all": lambda: [_get_rng_state(index) for index in range(state.count)],
        "set_rng_state": _set_rng_state,
        "set_rng_state_all": _set_rng_state_all,
        "_is_in_bad_fork": lambda: False,
        "CUDAGraph": _unsupported("torch.cuda.CUDAGraph"),
        "graph": _unsupported("torch.cuda.graph"),
        "make_graphed_callables": _unsupported("torch.cuda.make_graphed_callables"),
        "graph_pool_handle": _unsupported("torch.cuda.graph_pool_handle"),
        "MemPool": _unsupported("torch.cuda.MemPool"),
        "_sleep": lambda *_: None,
    }


def patch_cuda(patches: Patches) -> None:
    """Patch ``torch.cuda`` (or the module of the simulated device type) and ``torch.accelerator``."""
    timeline.reset()
    module = getattr(torch, state.kind)
    for name, value in _functions().items():
        if hasattr(module, name) or name in ("is_available", "device_count", "current_device"):
            patches.set(module, name, value)
            for part in ("random", "memory", "streams", "graphs"):
                inner = getattr(module, part, None)
                if inner is not None and name in vars(inner):
                    patches.set(inner, name, value)
    if state.kind == "mps":
        patches.set(torch.backends.mps, "is_available", lambda: True)
        patches.set(torch.backends.mps, "is_built", lambda: True)
    if state.kind == "cuda":
        patches.set(torch.cuda, "default_generators", streams.generators())
        for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
            patches.set(torch.cuda.nvtx, name, lambda *_, **__: 0)
        patches.set(torch.backends.cuda, "is_built", lambda: True)
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
            for name, function in _memory_functions().items()
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
