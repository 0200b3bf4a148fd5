"""Verdicts: the kind of an argument from what is said of it and from its uses."""

from __future__ import annotations

from collections.abc import Iterable

from devfix.analysis.callers.arguments import Argument, Evidence, Kind
from devfix.analysis.callers.votes import Votes

__all__ = ["with_uses"]

_TENSORS = frozenset({Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_DICT})


def with_uses(
    said: Argument, votes: Votes, received: Iterable[Argument], is_forward: bool, index: int, is_object: bool
) -> Argument:
    """Return what an argument is.

    Args:
        said: what docstring and default say.
        votes: what the uses say.
        received: what the functions that it is passed on to say.
        is_forward: whether the function is ``forward`` of a module.
        index: the position of the argument.
        is_object: whether the argument is named like a class of the file.

    """
    strong, possible = set(votes.strong), set(votes.possible)
    for argument in received:
        if argument.kind is not Kind.UNKNOWN:
            possible &= argument.kinds
            if not argument.alternatives:
                strong.add(argument.kind)
    if is_object:
        strong.discard(Kind.TENSOR)
        possible.discard(Kind.TENSOR)
    kind, evidence = _decide(said, votes, strong, frozenset(possible), is_forward, index)
    others = set(votes.checked | votes.required | said.alternatives)
    if said.evidence is Evidence.DEFAULT:
        others.add(said.kind)
    return Argument(kind, said.optional or votes.optional, frozenset(others) - {kind, Kind.UNKNOWN}, evidence)


def _decide(
    said: Argument, votes: Votes, strong: set[Kind], possible: frozenset[Kind], is_forward: bool, index: int
) -> tuple[Kind, Evidence]:
    for checked in (votes.required, votes.checked):
        if Kind.TENSOR in checked:
            return Kind.TENSOR, Evidence.CHECK
    if said.evidence in (Evidence.DOCSTRING, Evidence.DEFAULT):
        return said.kind, said.evidence
    shown = strong & possible
    if len(shown) == 1:
        return next(iter(shown)), Evidence.USE
    is_like_tensor = Kind.TENSOR in votes.weak
    if is_forward and Kind.TENSOR in possible and (is_like_tensor or (index == 0 and not votes.is_sequence)):
        return Kind.TENSOR, Evidence.NAME
    checked = votes.checked | votes.required
    if len(checked) == 1 and not checked & {Kind.TEXT, Kind.UNKNOWN}:
        return next(iter(checked)), Evidence.CHECK
    if not votes.elements or Kind.TENSORS not in possible:
        return Kind.UNKNOWN, Evidence.NONE
    elements = votes.elements
    if Kind.TENSOR in elements.strong & elements.possible:
        return Kind.TENSORS, Evidence.USE
    return Kind.UNKNOWN, Evidence.NONE
