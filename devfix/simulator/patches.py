"""Replacement of module attributes, and its undoing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Patches", "find_imports"]

_MISSING = object()

_searched: dict[Any, set[str]] = {}
_found: dict[Any, list[tuple[Any, str]]] = {}


def find_imports(function: Callable[..., Any]) -> list[tuple[Any, str]]:
    """Return torch's modules that imported a function by name, each with that name.

    Each module is searched once: torch has tens of thousands of names, and after a fork a search copies the memory of
    all their values.
    """
    searched, found = _searched.setdefault(function, set()), _found.setdefault(function, [])
    for module_name in [each for each in sys.modules if each not in searched]:
        searched.add(module_name)
        if module_name == "torch" or module_name.startswith("torch."):
            module = sys.modules[module_name]
            names = list(getattr(module, "__dict__", {}).items())
            found += [(module, name) for name, value in names if value is function]
    return [(module, name) for module, name in found if vars(module).get(name) is function]


class Patches:
    """Replaced attributes, restored in reverse order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace ``owner.name``; an attribute that was inherited or missing is deleted on undo."""
        original = vars(owner).get(name, _MISSING)
        setattr(owner, name, value)
        self._undo.append(lambda: delattr(owner, name) if original is _MISSING else setattr(owner, name, original))

    def replace_imported(self, original: Callable[..., Any], value: Any) -> None:
        """Replace a function in every loaded module of torch that imported it by name."""
        for module, name in find_imports(original):
            self.set(module, name, value)

    def on_undo(self, function: Callable[[], None]) -> None:
        """Register a function to call on undo."""
        self._undo.append(function)

    def undo(self) -> None:
        """Restore all replaced attributes."""
        while self._undo:
            self._undo.pop()()
