"""From evidence to words: roles of operands, and kinds of results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .drafts import OPERAND, Draft
from .probing import Evidence, Outcome, Result

__all__ = ["result_word", "role"]


def role(evidence: Evidence, name: str) -> str | None:
    """Return the word of an operand; None if no probe says it."""
    if name in evidence.host:
        return "Host"
    full, scalars = evidence.full.get(name, []), evidence.scalars.get(name, [])
    if any(not each.accepted for each in full):
        return "Scalar" if scalars and all(each.accepted for each in scalars) else "On"
    if full:
        return "Any"
    if scalars:
        return "Scalar" if all(each.accepted for each in scalars) else "On"
    return None


def result_word(draft: Draft, evidence: Evidence, roles: dict[str, str]) -> str | None:
    """Return the words of a result; None if no sample has run."""
    if not evidence.whole:
        return None
    mixed = [each for outcomes in (*evidence.full.values(), *evidence.scalars.values()) for each in outcomes]
    return _word([(result, given, highest) for result, given, highest in evidence.whole], mixed, draft, roles)


def _word(
    whole: list[tuple[Result, frozenset[str], int]], mixed: list[Outcome], draft: Draft, roles: dict[str, str]
) -> str:
    kinds = {result.kind for result, _, _ in whole}
    if kinds <= {"tuple", "list"}:
        return _container(whole, mixed, draft, roles)
    if kinds == {"Tensor"}:
        return _tensor(whole, mixed, draft, roles)
    return kinds.pop() if len(kinds) == 1 else "float" if kinds <= {"int", "float", "bool"} else "Any"


def _container(
    whole: list[tuple[Result, frozenset[str], int]], mixed: list[Outcome], draft: Draft, roles: dict[str, str]
) -> str:
    lengths = {len(result.members) for result, _, _ in whole}
    if len(lengths) == 1 and not draft.result.startswith("list") and lengths != {0}:
        return f"tuple[{', '.join(_word(*_member(whole, mixed, index), draft, roles) for index in range(lengths.pop()))}]"
    every = [(member, given, highest) for result, given, highest in whole for member in result.members]
    inner = [
        Outcome(each.placed, True, member)
        for each in mixed
        if each.accepted and each.result is not None
        for member in each.result.members
    ]
    return f"list[{_word(every, inner, draft, roles) if every else 'Any'}]"


def _member(
    whole: list[tuple[Result, frozenset[str], int]], mixed: list[Outcome], index: int
) -> tuple[list[tuple[Result, frozenset[str], int]], list[Outcome]]:
    return (
        [(result.members[index], given, highest) for result, given, highest in whole],
        [
            Outcome(each.placed, True, each.result.members[index])
            for each in mixed
            if each.accepted and each.result is not None and index < len(each.result.members)
        ],
    )


def _tensor(
    whole: list[tuple[Result, frozenset[str], int]], mixed: list[Outcome], draft: Draft, roles: dict[str, str]
) -> str:
    if all(result.device == "cpu" for result, _, _ in whole):
        return "OnCPU"
    followed = _followed(mixed, roles)
    if followed is not None:
        return f"Of[{followed}]"
    if any(highest > 0 for _, _, highest in whole) and all(result.dimensions == 0 for result, _, _ in whole):
        return "Number"
    reducing = _reducing(whole, draft)
    if reducing is not None:
        return f"Reduced[{reducing}]"
    return "Integral" if all(result.gradient is False for result, _, _ in whole) else "On"


def _followed(mixed: Iterable[Outcome], roles: dict[str, str]) -> str | None:
    """The parameter on whose device the result is, where a call accepts two devices."""
    accepted = [each for each in mixed if each.accepted and each.result is not None and each.result.device]
    if "Any" not in roles.values():
        return None
    candidates = [name for name in roles if all(each.placed.get(name) == each.result.device for each in accepted)]  # type: ignore[union-attr]  # filtered above
    return candidates[0] if accepted and candidates else None


def _reducing(whole: list[tuple[Result, frozenset[str], int]], draft: Draft) -> str | None:
    """The parameter without which the result has no dimensions."""
    known: list[tuple[int, str]] = []
    for parameter in draft.parameters:
        if not parameter.optional or parameter.word == OPERAND or parameter.name in ("out", "dtype", "keepdim"):
            continue
        without = [result.dimensions for result, given, highest in whole if parameter.name not in given and highest]
        having = [result.dimensions for result, given, _ in whole if parameter.name in given]
        if without and not any(without) and any(having):
            preferred = ("dim", "reduction", "axis", "ord").index(parameter.name) if parameter.name in (
                "dim", "reduction", "axis", "ord") else 9
            known.append((preferred, parameter.name))
    return min(known)[1] if known else None
