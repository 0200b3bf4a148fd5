"""Replacement of module attributes, and its undoing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Patches"]

_MISSING = object()


class Patches:
    """Replaced attributes, restored in reverse order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace ``owner.name``; an attribute that was inherited or missing is deleted on undo."""
        original = vars(owner).get(name, _MISSING)
        setattr(owner, name, value)
        self._undo.append(lambda: delattr(owner, name) if original is _MISSING else setattr(owner, name, original))

    def replace_imported(self, original: Any, value: Any, prefix: str = "torch") -> None:
        """Replace a function in every loaded module that imported it by name."""
        for module_name, module in list(sys.modules.items()):
            if module_name != prefix and not module_name.startswith(prefix + "."):
                continue
            for name, found in list(getattr(module, "__dict__", {}).items()):
                if found is original:
                    self.set(module, name, value)

    def on_undo(self, function: Callable[[], None]) -> None:
        """Register a function to call on undo."""
        self._undo.append(function)

    def undo(self) -> None:
        """Restore all replaced attributes."""
        while self._undo:
            self._undo.pop()()
