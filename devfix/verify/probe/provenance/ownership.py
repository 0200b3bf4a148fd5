"""Which module a parameter or buffer belongs to, and what happened to the modules around it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

__all__ = ["Owner", "all_modules", "owners", "surroundings"]


class Owner(NamedTuple):
    """The module that keeps a tensor, under which name, and as what: ``parameter``, ``buffer`` or ``attribute``."""

    module: Any
    attribute: str
    kind: str


def all_modules() -> list[Any]:
    """Every module of the program."""
    types: dict[type, bool] = {}
    found = []
    for each in gc.get_objects():
        kind = type(each)
        known = types.get(kind)
        if known is None:
            known = types[kind] = issubclass(kind, torch.nn.Module)
        if known and "_modules" in vars(each):
            found.append(each)
    return found


def owners(modules: list[Any], history: Callable[[Tensor], Any]) -> dict[int, Owner]:
    """What the modules keep, by the identity of its history."""
    found: dict[int, Owner] = {}
    for module in modules:
        for kind, table in (("parameter", "_parameters"), ("buffer", "_buffers"), ("attribute", None)):
            entries = vars(module) if table is None else vars(module).get(table, {})
            for name, value in entries.items():
                node = history(value) if isinstance(value, Tensor) else None
                if node is not None and id(node) not in found:
                    found[id(node)] = Owner(module, name, kind)
    return found


def surroundings(module: Any, modules: list[Any]) -> tuple[list[tuple[Any, str]], tuple[str, str, str] | None]:
    """The modules that one is a part of, the nearest first, with its path in each of them; and the Python container.

    The container is that which keeps the outermost one: the type of the module whose attribute it is, the attribute's
    name and the container's type; None where there is none.
    """
    above = _above(module, modules)
    return above, _container(above[-1][0] if above else module, modules)


def _above(module: Any, modules: list[Any]) -> list[tuple[Any, str]]:
    found: list[tuple[Any, str]] = []
    path, below = "", module
    for _ in range(64):
        for parent in modules:
            name = next((name for name, part in vars(parent)["_modules"].items() if part is below), None)
            if name is not None and all(parent is not each for each, _ in found):
                path = f"{name}.{path}" if path else name
                found.append((parent, path))
                below = parent
                break
        else:
            break
    return found


def _container(module: Any, modules: list[Any]) -> tuple[str, str, str] | None:
    for keeper in modules:
        for name, value in vars(keeper).items():
            if name in ("_modules", "_parameters", "_buffers") or not isinstance(value, (list, tuple, dict)):
                continue
            if _holds(value, module):
                return type(keeper).__name__, name, type(value).__name__
    return None


def _holds(container: Any, module: Any, depth: int = 3) -> bool:
    """Whether a container, or one in it, has the module."""
    parts = container.values() if isinstance(container, dict) else container
    return any(
        part is module or (depth > 0 and isinstance(part, (list, tuple, dict)) and _holds(part, module, depth - 1))
        for part in parts
    )
