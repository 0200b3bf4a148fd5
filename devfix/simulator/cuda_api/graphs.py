"""CUDA graphs: a capture records the calls on the device, and a replay runs them again, with device checks.

As on a real device, captured work is not done at the capture: what it wrote is restored, and random numbers are drawn
again.  https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from ..errors import accelerator_error
from ..subclasses import watch_handlers
from ..tags import get_tag, iter_tensors
from .timeline import Stream, StreamContext

__all__ = ["CUDAGraph", "Graph", "MemPool", "graph_pool_handle", "is_capturing", "make_graphed_callables"]

_NoTorchFunction = torch._C.DisableTorchFunction
_captures: list[_Capture] = []
_pools = itertools.count(1)


def is_capturing(*_: Any) -> bool:
    """Return whether a graph is being captured."""
    return bool(_captures)


class _Capture(TorchDispatchMode):  # type: ignore[no-untyped-call]  # untyped in torch
    """The calls of one capture, and the contents of the memory that they wrote."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # untyped in torch
        self.calls: list[tuple[Any, Any, Any, Any]] = []
        self._made: dict[int, Any] = {}
        self._before: dict[int, tuple[Any, Any]] = {}
        self._random = torch.default_generator.get_state()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if types and watch_handlers(types):
            return NotImplemented
        kwargs = kwargs or {}
        given = list(iter_tensors((*args, *kwargs.values())))
        if func is torch.ops.aten._local_scalar_dense.default and get_tag(given[0]) is not None:
            raise accelerator_error("CUDA error: operation not permitted when stream is capturing\n")
        self._keep(func, args, kwargs)
        result = func(*args, **kwargs)
        made = list(iter_tensors((result,)))
        if any(get_tag(each) is not None for each in (*given, *made)):
            self.calls.append((func, args, kwargs, result))
            known = {_storage(each)._cdata for each in given}
            for each in made:
                if _storage(each)._cdata not in known:
                    self._made[_storage(each)._cdata] = _storage(each)
        return result

    def _keep(self, func: Any, args: Any, kwargs: Any) -> None:
        """Copy what an operator is about to write, unless the capture made it."""
        for position, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            for tensor in iter_tensors((value,)):
                storage = _storage(tensor)
                is_known = storage._cdata in self._made or storage._cdata in self._before
                if not is_known and get_tag(tensor) is not None:
                    self._before[storage._cdata] = storage, storage.clone()

    def undo(self) -> None:
        """Restore the memory and the random numbers from before the capture."""
        with torch.utils._python_dispatch._disable_current_modes():
            for storage, content in self._before.values():
                storage.copy_(content)
        torch.default_generator.set_state(self._random)


def _storage(tensor: Tensor) -> Any:
    with _NoTorchFunction():
        return tensor.untyped_storage()


class CUDAGraph:
    """``torch.cuda.CUDAGraph``."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._capture: _Capture | None = None
        self._pool: Any = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Begin to record the calls on the device."""
        self._pool = pool or graph_pool_handle()
        self._capture = _Capture()
        _captures.append(self._capture)
        self._capture.__enter__()  # type: ignore[no-untyped-call]  # untyped in torch

    def capture_end(self) -> None:
        """End the capture, and restore what its calls wrote."""
        capture = _captures.pop()
        capture.__exit__(None, None, None)  # type: ignore[no-untyped-call]  # untyped in torch
        capture.undo()

    def instantiate(self) -> None:
        """Do nothing; a capture is ready to run."""

    def replay(self) -> None:
        """Run the recorded calls again; results are written to the tensors of the capture."""
        if self._capture is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        with torch._C._AutoDispatchBelowAutograd(), _NoTorchFunction():
            for func, args, kwargs, result in self._capture.calls:
                again = func(*args, **kwargs)
                for old, new in zip(iter_tensors((result,)), iter_tensors((again,))):
                    if old.untyped_storage()._cdata != new.untyped_storage()._cdata:
                        old.copy_(new)

    def reset(self) -> None:
        """Drop the recorded calls."""
        self._capture = None

    def pool(self) -> Any:
        """Return the handle of the graph's memory pool."""
        return self._pool

    def enable_debug_mode(self) -> None:
        """Do nothing."""

    def debug_dump(self, debug_path: str) -> None:
        """Do nothing."""


class Graph:
    """Context manager ``torch.cuda.graph``."""

    def __init__(
        self, cuda_graph: CUDAGraph, pool: Any = None, stream: Any = None, capture_error_mode: str = "global", **_: Any
    ) -> None:
        self.cuda_graph = cuda_graph
        self.pool = () if pool is None else (pool,)
        self.stream_ctx = StreamContext(stream or Stream())

    def __enter__(self) -> None:
        self.stream_ctx.__enter__()
        self.cuda_graph.capture_begin(*self.pool)

    def __exit__(self, *problem: Any) -> None:
        self.cuda_graph.capture_end()
        self.stream_ctx.__exit__(*problem)


def graph_pool_handle() -> tuple[int, int]:
    """Return a new handle of a memory pool."""
    return 0, next(_pools)


def make_graphed_callables(callables: Any, *_: Any, **__: Any) -> Any:
    """Return the callables, which run eagerly with the numbers of their graphs."""
    return callables


class MemPool:
    """``torch.cuda.MemPool``; memory is not modeled."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.id = graph_pool_handle()
        self.allocator = None

    def use_count(self) -> int:
        """Return the number of users of the pool."""
        return 1

    def snapshot(self, *_: Any, **__: Any) -> list[Any]:
        """Return no memory segments."""
        return []
