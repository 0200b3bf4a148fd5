"""Memory of the simulated devices: constant figures in the form that ``torch.cuda`` reports them."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..state import state
from .cards import total_memory

__all__ = ["memory_functions"]

_USED = 64 << 20
_SEGMENT = 128 << 20

_ZEROS = (
    "num_alloc_retries",
    "num_ooms",
    "num_sync_all_streams",
    "num_device_alloc",
    "num_device_free",
    "max_split_size",
)
_AMOUNTS = {
    "allocation": 64,
    "segment": 4,
    "active": 64,
    "inactive_split": 4,
    "allocated_bytes": _USED,
    "reserved_bytes": _SEGMENT,
    "active_bytes": _USED,
    "inactive_split_bytes": 1 << 20,
    "requested_bytes": _USED,
}
_COUNTERS = {"current": 1, "peak": 1, "allocated": 2, "freed": 1}


def _nested_statistics(*_: Any, **__: Any) -> dict[str, Any]:
    """Return the statistics of https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.memory_stats.html."""
    amounts = {
        name: {
            pool: {counter: amount * factor for counter, factor in _COUNTERS.items()}
            for pool in ("all", "large_pool", "small_pool")
        }
        for name, amount in _AMOUNTS.items()
    }
    oversize = {name: dict.fromkeys(_COUNTERS, 0) for name in ("oversize_allocations", "oversize_segments")}
    return {**amounts, **oversize, **dict.fromkeys(_ZEROS, 0)}


def _statistics(*_: Any, **__: Any) -> dict[str, int]:
    flat: dict[str, int] = OrderedDict()

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                add(f"{prefix}.{name}" if prefix else name, inner)
        else:
            flat[prefix] = value

    add("", _nested_statistics())
    return OrderedDict(sorted(flat.items()))


def _snapshot(*_: Any, **__: Any) -> dict[str, Any]:
    return {"segments": [], "device_traces": [[] for _ in range(state.count)], "allocator_settings": {}}


def _dump_snapshot(filename: str = "dump_snapshot.pickle", *_: Any, **__: Any) -> None:
    with open(filename, "wb") as target:
        pickle.dump(_snapshot(), target)


def _summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return a table with the title of PyTorch's."""
    line = "|" + "=" * 75 + "|"
    title = f"|{'PyTorch CUDA memory summary, device ID ' + str(state.current):^75}|"
    rows = [f"| {name:<36} {_statistics()[f'{name}.all.current']:>36} |" for name in _AMOUNTS]
    return "\n".join([line, title, line, *rows, line]) + "\n"


def memory_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions of ``torch.cuda.memory`` by name, and others without effect."""

    def constant(value: Any) -> Callable[..., Any]:
        return lambda *_, **__: value

    used = ("memory_allocated", "max_memory_allocated", "device_memory_used")
    reserved = ("memory_reserved", "max_memory_reserved", "memory_cached", "max_memory_cached")
    without_effect = (
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
        "_record_memory_history",
        "_set_allocator_settings",
    )
    return {
        **{name: constant(_USED) for name in used},
        **{name: constant(_SEGMENT) for name in reserved},
        **{name: constant(None) for name in without_effect},
        "mem_get_info": lambda *_, **__: (total_memory() - _SEGMENT, total_memory()),
        "memory_stats": _statistics,
        "memory_stats_as_nested_dict": _nested_statistics,
        "host_memory_stats": lambda *_, **__: {},
        "host_memory_stats_as_nested_dict": lambda *_, **__: {},
        "memory_snapshot": lambda *_, **__: [],
        "_snapshot": _snapshot,
        "_dump_snapshot": _dump_snapshot,
        "get_per_process_memory_fraction": constant(1.0),
        "get_allocator_backend": constant("native"),
        "get_sync_debug_mode": constant(0),
        "memory_summary": _summary,
        "list_gpu_processes": constant("GPU:0\nno processes are running"),
        "current_allocated_memory": constant(_USED),
        "driver_allocated_memory": constant(_SEGMENT),
        "recommended_max_memory": lambda: total_memory() * 3 // 4,
    }
