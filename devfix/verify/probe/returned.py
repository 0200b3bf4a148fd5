"""Values of a script's last top-level calls, such as the result of ``main()``."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from .parameters import digest, untracked

__all__ = ["ReturnedValues", "without_clock_readings"]

_MAX_STATEMENTS = 64
_MAX_VALUES = 1000
_MAX_DEPTH = 4
_MAX_TEXT = 200

#: Functions that read a clock, whatever module or object they belong to.
_CLOCKS = frozenset(
    "elapsed_time time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns "
    "thread_time thread_time_ns default_timer now utcnow today ctime asctime".split()
)


def without_clock_readings(tree: ast.Module) -> ast.Module:
    """Return a script whose top-level expressions that only read a clock are conditions, which return no value."""
    return _ClockReadings().visit(tree)  # type: ignore[no-any-return]  # a transformer's result has no type


class _ClockReadings(ast.NodeTransformer):
    """Replacement of ``start.elapsed_time(end)`` and ``time.time() - start`` as statements outside of functions."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
        if not calls or not all(_name(each.func) in _CLOCKS for each in calls):
            return node
        return ast.copy_location(ast.If(node.value, [ast.copy_location(ast.Pass(), node)], []), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node


def _name(function: ast.expr) -> str | None:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


class ReturnedValues:
    """Values of the last expression statements at the script's top level.

    Attributes:
        note: records a value.  It is a function in C, so a script that traces calls does not see it.

    """

    def __init__(self) -> None:
        self._values: deque[Any] = deque(maxlen=_MAX_STATEMENTS)
        self.note: Callable[[Any], None] = self._values.append

    def results(self) -> list[str]:
        """Return the values as text: numbers as they print; tensors as their element, or ``shape dtype digest``."""
        found: list[str] = []
        for value in self._values:
            if isinstance(value, str) or type(value) is int:  # a docstring; the number of characters that write() wrote
                continue
            if isinstance(value, dict) and "__builtins__" in value:  # the names of a script that runpy has run
                continue
            try:
                found += _leaves(value, _MAX_DEPTH)
            except Exception:  # a value whose own code fails, as its ``__iter__`` might
                found.append(type(value).__name__)
        return found[:_MAX_VALUES]


def _leaves(value: Any, depth: int) -> Iterator[str]:
    import torch

    if isinstance(value, torch.Tensor):
        yield _describe_tensor(value)
    elif isinstance(value, (bool, int, float, complex)):
        yield repr(value)
    elif isinstance(value, str):
        yield value[:_MAX_TEXT]
    elif depth and type(value) in (list, tuple):
        for each in value:
            yield from _leaves(each, depth - 1)
    elif depth and type(value) is dict:
        for key, each in value.items():
            for leaf in _leaves(each, depth - 1):
                yield f"{key}: {leaf}"[:_MAX_TEXT]


def _describe_tensor(tensor: Any) -> str:
    with untracked():
        if tensor.numel() == 1:
            return repr(tensor.detach().cpu().item())
    return f"{tuple(tensor.shape)} {tensor.dtype} {digest([tensor])[:16]}"
