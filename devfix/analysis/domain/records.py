"""Dataclasses that the type checker keeps frozen, at the price of plain ones.

An analysis makes a value or an object of the heap in each step.  A frozen dataclass of Python sets each field through
``object.__setattr__``, which takes two to five times as long, and ``dataclasses.replace`` ten times as long as a copy.
Here ``frozen=True`` is a promise that only the type checker holds to.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, **options: bool) -> Any:
        """Decorate a class as ``dataclasses.dataclass`` does; a frozen one has a hash, and attributes can be set."""

        def decorate(cls: type) -> type:
            hashes = frozen and eq and "__hash__" not in vars(cls)
            return dataclasses.dataclass(eq=eq, unsafe_hash=hashes, **options)(cls)

        return decorate if cls is None else decorate(cls)

    def replace(obj: Any, /, **changes: Any) -> Any:
        """Return a copy of a dataclass without slots, with other values of some fields."""
        copy = object.__new__(type(obj))
        copy.__dict__.update(obj.__dict__, **changes)
        return copy
