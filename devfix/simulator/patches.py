"""Replace attributes of PyTorch's modules and put them back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Patches"]

_MISSING = object()


class Patches:
    """A list of replaced attributes, undone in reverse order."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace ``owner.name``; an attribute that was inherited or missing is deleted on undo."""
        before = vars(owner).get(name, _MISSING)
        setattr(owner, name, value)
        self._undo.append(lambda: delattr(owner, name) if before is _MISSING else setattr(owner, name, before))

    def everywhere(self, original: Any, value: Any, prefix: str = "torch") -> None:
        """Replace a function in every loaded module that imported it by name."""
        for module_name, module in list(sys.modules.items()):
            if module_name != prefix and not module_name.startswith(prefix + "."):
                continue
            for name, found in list(getattr(module, "__dict__", {}).items()):
                if found is original:
                    self.set(module, name, value)

    def on_undo(self, function: Callable[[], None]) -> None:
        """Call a function when everything is undone."""
        self._undo.append(function)

    def undo(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()
