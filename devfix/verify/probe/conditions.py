"""What every run has in common: the seeds, one process, one implementation of each optimizer."""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["in_one_process", "one_implementation", "seed", "watch_compiler", "without_compiler"]

_SEED = 0


def seed() -> None:
    """Seeds for scripts that set none."""
    import torch

    random.seed(_SEED)
    torch.manual_seed(_SEED)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(_SEED)


def in_one_process() -> None:
    """Other processes would not see the simulated device, and record nothing."""
    _no_workers()
    _no_spawning()


def _no_workers() -> None:
    """Data loaders load in this process."""
    from torch.utils.data import DataLoader

    real: Any = DataLoader.__init__
    signature = inspect.signature(real)

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs).arguments
        extra = given.pop("kwargs", {})
        for name in ("num_workers", "prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout"):
            given.pop(name, None)
        real(**given, **extra)

    loader: Any = DataLoader
    loader.__init__ = init


def _no_spawning() -> None:
    """``torch.multiprocessing.spawn(worker, nprocs=1)``, one process for each device, calls the worker here."""
    import torch.multiprocessing

    library: Any = torch.multiprocessing
    real = library.spawn

    def spawn(fn: Any, args: Any = (), nprocs: int = 1, *rest: Any, **more: Any) -> Any:
        if nprocs != 1:
            return real(fn, args, nprocs, *rest, **more)
        fn(0, *args)
        return None

    home: Any = sys.modules[real.__module__]
    library.spawn = home.spawn = spawn


def without_compiler() -> None:
    """``torch.compile`` returns what it is given."""
    import torch

    def as_it_is(model: Any = None, **_: Any) -> Any:
        return (lambda function: function) if model is None else model

    library: Any = torch
    library.compile = as_it_is
    library.nn.Module.compile = lambda self, *_, **__: None


def watch_compiler(note: Callable[[str], None]) -> None:
    """Call ``note`` with ``torch.compile`` when the script compiles something."""
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


def one_implementation() -> None:
    """Optimizers default to their multi-tensor implementation on accelerators and to a loop on the CPU.

    The two round differently for some (NAdam), so every run takes the accelerators' default.
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
