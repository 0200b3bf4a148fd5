"""Other names of the same function: ``torch.multiply`` is ``torch.mul``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from conformance.probes import operators

from .names import METHODS, functions

__all__ = ["aliases"]

_ALIAS = re.compile(r"\s*Alias (?:for|of|to) :\w+:`~?([\w.]+)`", re.IGNORECASE)


def _said(name: str, function: Any) -> Iterator[str]:
    """Targets that the documentation of a function names."""
    for line in (getattr(function, "__doc__", None) or "").splitlines()[:12]:
        found = _ALIAS.match(line)
        if found is not None:
            target = found[1]
            if target.startswith("Tensor."):
                yield f"torch.{target}"
            else:
                yield target if target.startswith("torch.") else f"{name.rpartition('.')[0]}.{target}"


def _of_operators() -> Iterator[tuple[str, str]]:
    for op in operators().values():
        for alias in op.aliases:
            yield f"torch.{alias.name}", f"torch.{op.name}"


def _same_objects() -> Iterator[tuple[str, str]]:
    """Names of one object: ``torch.nn.functional.conv2d`` is ``torch.conv2d``."""
    first: dict[int, str] = {}
    for name, function in sorted(functions().items(), key=lambda pair: (len(pair[0]), pair[0])):
        target = first.setdefault(id(function), name)
        if target != name:
            yield name, target


def _methods(pairs: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Methods and in-place forms of functions that are aliases."""
    for name, target in pairs.items():
        short, other = name.rpartition(".")[2], target.rpartition(".")[2]
        for form in ("{}", "{}_"):
            yield METHODS + form.format(short), METHODS + form.format(other)
            yield "torch." + form.format(short), "torch." + form.format(other)


@functools.cache
def aliases() -> dict[str, str]:
    """Return each name that stands for another one, with the name that it stands for."""
    known = functions()
    found: dict[str, str] = {}
    for name, target in (*_of_operators(), *_same_objects()):
        found.setdefault(name, target)
    for name, function in known.items():
        for target in _said(name, function):
            found.setdefault(name, target)
    for name, target in _methods(dict(found)):
        found.setdefault(name, target)
    found = {name: target for name, target in found.items() if name in known and target in known and name != target}
    ends = {name: _end(found, name) for name in sorted(found)}
    return {name: end for name, end in ends.items() if name != end and _is_method(name) == _is_method(end)}


def _is_method(name: str) -> bool:
    return name.startswith(METHODS)


def _end(found: dict[str, str], name: str) -> str:
    """Follow aliases of aliases; of two that name each other, the shorter is the end."""
    seen = [name]
    while (target := found.get(seen[-1])) is not None and target not in seen:
        seen.append(target)
    if found.get(seen[-1]) in seen:
        return min(seen, key=lambda each: (len(each), each))
    return seen[-1]
