"""Detection of scripts that replace parts of the recorder.

Code in the same process can do anything; this finds replacements that remain in place, not a determined forger.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import FunctionType
from typing import Any

__all__ = ["Seal"]


class Seal:
    """The recorder's functions as they are before the script starts.

    Args:
        recorders: objects whose methods record; their classes and instances are sealed.

    """

    def __init__(self, recorders: Iterable[Any]) -> None:
        import torch
        from torch.optim import optimizer

        places: list[tuple[Any, str]] = [
            *((torch.autograd, name) for name in ("backward", "grad")),
            *((torch.Tensor, name) for name in ("backward", "item", "detach")),
            (torch.nn.Module, "__call__"),
            *((torch.optim.Optimizer, name) for name in ("profile_hook_step", "register_step_pre_hook")),
            *((json, name) for name in ("dumps", "dump")),
            *((json.JSONEncoder, name) for name in ("encode", "iterencode", "default")),
        ]
        self._instances = list(recorders)
        places += [(type(each), name) for each in self._instances for name in _methods(type(each))]
        self._functions = [
            (owner, name, vars(owner).get(name), _code(vars(owner).get(name)))
            for owner, name in places
            if name in vars(owner)
        ]
        registry: Any = optimizer
        self._hooks = [
            (hooks, dict(hooks))
            for hooks in (registry._global_optimizer_pre_hooks, registry._global_optimizer_post_hooks)
        ]

    def broken(self) -> str | None:
        """Return the name of a function that was replaced; None if none was."""
        for owner, name, function, code in self._functions:
            found = vars(owner).get(name)
            if found is not function or _code(found) is not code:
                return f"{getattr(owner, '__name__', owner)}.{name}"
        for instance in self._instances:
            for name in _methods(type(instance)):
                if name in vars(instance):
                    return f"{type(instance).__name__}.{name}"
        for hooks, expected in self._hooks:
            if any(hooks.get(key) is not hook for key, hook in expected.items()):
                return "the optimizers' step hooks"
        return None


def _methods(owner: type) -> list[str]:
    return [name for name, value in vars(owner).items() if isinstance(value, FunctionType)]


def _code(function: Any) -> Any:
    return getattr(function, "__code__", None)
