"""Equal conditions for all runs: seeds, a single process, and one implementation of each optimizer."""

from __future__ import annotations

import inspect
import multiprocessing
import random
import sys
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .devices import load_simulator

__all__ = [
    "SPEED",
    "run_compilers_eagerly",
    "seed",
    "speed_up_clocks",
    "use_foreach_optimizers",
    "use_one_process",
    "watch_compiler",
]

_SEED = 0
_DEFAULT_METHOD = multiprocessing.get_all_start_methods()[0]

#: Factor of :func:`speed_up_clocks`.
SPEED = 7


def seed() -> None:
    """Seed ``random``, torch and NumPy for scripts that do not."""
    import torch

    random.seed(_SEED)
    torch.manual_seed(_SEED)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(_SEED)


def speed_up_clocks() -> None:
    """Make the clocks of :mod:`time` run faster from now on, so that no measured time is reproduced by chance."""
    import time
    import timeit

    module: Any = time
    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
        setattr(module, name, _faster(getattr(time, name)))
        setattr(module, f"{name}_ns", _faster(getattr(time, f"{name}_ns")))
    timeit.default_timer = time.perf_counter


def _faster(clock: Callable[[], Any]) -> Callable[[], Any]:
    start = clock()
    return lambda: start + (clock() - start) * SPEED


def use_one_process(simulator: str | None) -> None:
    """Run data loading and ``spawn`` in this process: other ones have no simulated device and no recorder.

    Args:
        simulator: folder of the simulator package, which raises the errors of forked workers; None: they work.

    """
    _disable_workers(nullcontext if simulator is None else load_simulator(simulator).SimulatedWorker)
    _spawn_in_process()


def _disable_workers(worker: Callable[[], AbstractContextManager[Any]]) -> None:
    """Make data loaders ignore ``num_workers``, and fetch batches in the contexts that stand for forked workers."""
    from torch.utils.data import DataLoader, dataloader

    real: Any = DataLoader.__init__
    signature = inspect.signature(real)
    contexts: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs).arguments
        extra = given.pop("kwargs", {})
        if given.get("num_workers"):
            contexts[self] = given.get("multiprocessing_context")
        for name in ("num_workers", "prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            given.pop(name, None)
        real(**given, **extra)

    iterator: Any = dataloader._SingleProcessDataLoaderIter
    real_iterator = iterator.__init__

    def start(self: Any, loader: Any) -> None:
        real_iterator(self, loader)
        if loader in contexts and _forks(contexts[loader]):
            self._dataset_fetcher.fetch = _inside(worker(), self._dataset_fetcher.fetch)

    loader: Any = DataLoader
    loader.__init__ = init
    iterator.__init__ = start


def _forks(context: Any) -> bool:
    """Whether a data loader with this ``multiprocessing_context`` forks its workers."""
    if context is not None and not isinstance(context, str):
        context = context.get_start_method()
    return (context or multiprocessing.get_start_method(allow_none=True) or _DEFAULT_METHOD) == "fork"


def _inside(worker: AbstractContextManager[Any], fetch: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def fetch_in_worker(index: Any) -> Any:
        with worker:
            return fetch(index)

    return fetch_in_worker


def _spawn_in_process() -> None:
    """Make ``torch.multiprocessing.spawn(worker, nprocs=1)`` call the worker in this process."""
    import torch.multiprocessing

    library: Any = torch.multiprocessing
    real = library.spawn

    def spawn(fn: Any, args: Any = (), nprocs: int = 1, *rest: Any, **more: Any) -> Any:
        if nprocs != 1:
            return real(fn, args, nprocs, *rest, **more)
        fn(0, *args)
        return None

    defining_module: Any = sys.modules[real.__module__]
    library.spawn = defining_module.spawn = spawn


def run_compilers_eagerly(simulator: str | None) -> None:
    """Make ``torch.compile`` and TorchScript run eagerly, with the attributes and files of compiled modules.

    Args:
        simulator: folder of the simulator package; None: ``torch.compile`` returns its argument.

    """
    import torch

    if simulator is not None:
        load_simulator(simulator).run_compilers_eagerly()
        return

    def unchanged(model: Any = None, **_: Any) -> Any:
        return (lambda function: function) if model is None else model

    library: Any = torch
    library.compile = unchanged
    library.nn.Module.compile = lambda self, *_, **__: None


def watch_compiler(note: Callable[[str], None]) -> None:
    """Call ``note("torch.compile")`` each time the script compiles a model or function."""
    import torch

    library: Any = torch
    real_compile, real_method = library.compile, library.nn.Module.compile

    def compile_(*args: Any, **kwargs: Any) -> Any:
        note("torch.compile")
        return real_compile(*args, **kwargs)

    def compile_in_place(self: Any, *args: Any, **kwargs: Any) -> Any:
        note("torch.compile")
        return real_method(self, *args, **kwargs)

    library.compile = compile_
    library.nn.Module.compile = compile_in_place


def use_foreach_optimizers() -> None:
    """Make every run use the optimizers' default for accelerators, the multi-tensor implementation.

    The CPU's default is a loop, which rounds differently for some optimizers (NAdam).
    """
    import torch.optim.optimizer as optimizer

    real = optimizer._default_to_fused_or_foreach

    def default(params: Any, differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
        if use_fused:
            return real(params, differentiable, use_fused)
        plain = optimizer._foreach_supported_types
        return False, not differentiable and all(each is None or type(each) in plain for each in params)

    module: Any
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.optim") and getattr(module, "_default_to_fused_or_foreach", None) is real:
            module._default_to_fused_or_foreach = default
