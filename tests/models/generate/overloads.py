"""The overloads of every public name, before probes have found the roles of operands."""

from __future__ import annotations

import functools
from typing import Any

from . import python_functions, schemas, stubs
from .drafts import Draft, merged
from .names import METHODS, functions

__all__ = ["overloads"]


@functools.cache
def overloads() -> dict[str, list[Draft]]:
    """Return the overloads by public name, the more specific first."""
    found = {name: _of(name, function) for name, function in functions().items()}
    return {name: merged(drafts) for name, drafts in found.items() if drafts}


def _of(name: str, function: Any) -> list[Draft]:
    if python_functions.is_python(function):
        draft = python_functions.draft(name, function)
        return [] if draft is None else [draft]
    base = name.rpartition(".")[2]
    if name == f"torch.{base}" and base in stubs.functions_of_torch():
        return stubs.functions_of_torch()[base]
    if name.startswith(METHODS) and base in stubs.methods():
        return stubs.methods()[base]
    found = schemas.drafts(name)
    if found:
        return found
    draft = python_functions.draft(name, function)
    return [] if draft is None else [draft]
