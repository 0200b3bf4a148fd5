"""Owners of tensors: the module of a parameter, buffer or attribute, and its enclosing modules."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

__all__ = ["Owner", "all_modules", "enclosing_modules", "owners"]


class Owner(NamedTuple):
    """The module with a tensor, the attribute's name, and its kind: ``parameter``, ``buffer`` or ``attribute``."""

    module: Any
    attribute: str
    kind: str


def all_modules() -> list[Any]:
    """Return every live module of the program."""
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
    """Return the owners of tensors by the id of their history."""
    found: dict[int, Owner] = {}
    for module in modules:
        for kind, table in (("parameter", "_parameters"), ("buffer", "_buffers"), ("attribute", None)):
            entries = vars(module) if table is None else vars(module).get(table, {})
            for name, value in entries.items():
                node = history(value) if isinstance(value, Tensor) else None
                if node is not None and id(node) not in found:
                    found[id(node)] = Owner(module, name, kind)
    return found


def enclosing_modules(module: Any, modules: list[Any]) -> tuple[list[tuple[Any, str]], tuple[str, str, str] | None]:
    """Return the enclosing modules, the nearest first, with the module's path in each, and the Python container.

    The container is a plain list, tuple or dictionary with the outermost module, as the type of the module that has it
    as attribute, the attribute's name and the container's type; None if there is none.
    """
    parents = _parents(module, modules)
    return parents, _container(parents[-1][0] if parents else module, modules)


def _parents(module: Any, modules: list[Any]) -> list[tuple[Any, str]]:
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
    for holder in modules:
        for name, value in vars(holder).items():
            if name in ("_modules", "_parameters", "_buffers") or not isinstance(value, (list, tuple, dict)):
                continue
            if _contains(value, module):
                return type(holder).__name__, name, type(value).__name__
    return None


def _contains(container: Any, module: Any, depth: int = 3) -> bool:
    """Whether a container, or a nested one, contains the module."""
    parts = container.values() if isinstance(container, dict) else container
    return any(
        part is module or (depth > 0 and isinstance(part, (list, tuple, dict)) and _contains(part, module, depth - 1))
        for part in parts
    )
