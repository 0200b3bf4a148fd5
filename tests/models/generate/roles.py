"""From evidence to words: roles of operands, and kinds of results."""

from __future__ import annotations

from collections.abc import Iterable

from .drafts import Draft
from .probing import Evidence, Outcome, Result, Run

__all__ = ["followed", "result_word", "role"]


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
    return _word(evidence.whole, _mixed(evidence), draft, roles)


# Parameters that say which dimensions are reduced, or whether any is.
_REDUCING = ("dim", "reduction", "axis")


def followed(evidence: Evidence, roles: dict[str, str]) -> str | None:
    """Return the operand on whose device the result is, where a call accepts two devices."""
    return _followed(_mixed(evidence), roles)


def _mixed(evidence: Evidence) -> list[Outcome]:
    return [each for outcomes in (*evidence.full.values(), *evidence.scalars.values()) for each in outcomes]


def _word(whole: list[Run], mixed: list[Outcome], draft: Draft, roles: dict[str, str]) -> str:
    kinds = {run.result.kind for run in whole}
    if kinds <= {"tuple", "list"}:
        return _container(whole, mixed, draft, roles)
    if "Tensor" in kinds:  # with a flag, several: ``return_inverse=True``
        whole = [run for run in whole if run.result.kind == "Tensor"]
        return _tensor(whole, [each for each in mixed if each.result is not None and each.result.device], draft, roles)
    return kinds.pop() if len(kinds) == 1 else "float" if kinds <= {"int", "float", "bool"} else "Any"


def _container(whole: list[Run], mixed: list[Outcome], draft: Draft, roles: dict[str, str]) -> str:
    lengths = {len(run.result.members) for run in whole}
    members = [member for run in whole for member in run.result.members]
    if not any(_has_tensor(member) for member in members):
        kinds = {member.kind for member in members}
        return f"list[{kinds.pop()}]" if len(kinds) == 1 and not kinds & {"tuple", "list"} else "Any"
    if len(lengths) == 1 and not draft.result.startswith("list"):
        words = [_word(*_member(whole, mixed, index), draft, roles) for index in range(lengths.pop())]
        if draft.result.startswith("tuple") or (len(set(words)) > 1 and not _is_variadic(draft)):
            return f"tuple[{', '.join(words)}]"
    every = [run._replace(result=member) for run in whole for member in run.result.members]
    inner = [
        Outcome(each.placed, True, member)
        for each in mixed
        if each.accepted and each.result is not None
        for member in each.result.members
    ]
    return f"list[{_word(every, inner, draft, roles)}]"


def _has_tensor(result: Result) -> bool:
    return result.kind == "Tensor" or any(map(_has_tensor, result.members))


def _is_variadic(draft: Draft) -> bool:
    """Whether a function takes tensors one by one, and returns as many."""
    return any(each.kind == "rest" for each in draft.parameters)


def _member(whole: list[Run], mixed: list[Outcome], index: int) -> tuple[list[Run], list[Outcome]]:
    return (
        [run._replace(result=run.result.members[index]) for run in whole],
        [
            Outcome(each.placed, True, each.result.members[index])
            for each in mixed
            if each.accepted and each.result is not None and index < len(each.result.members)
        ],
    )


def _tensor(whole: list[Run], mixed: list[Outcome], draft: Draft, roles: dict[str, str]) -> str:
    if all(run.result.device == "cpu" for run in whole):
        return "OnCPU"
    followed = _followed(mixed, roles)
    if followed is not None:
        return f"Of[{followed}]"
    integral = all(run.result.gradient is False for run in whole)
    reducing = _reducing(whole, draft)
    if reducing is not None:
        return f"Integral[{reducing}]" if integral else f"Reduced[{reducing}]"
    is_number = any(run.highest for run in whole) and not any(run.result.dimensions for run in whole)
    if is_number and draft.parameter("reduction") is None:
        return "Number"
    if integral:
        return "Integral"
    return "Vector" if _has_dimensions(whole, draft) else "On"


def _has_dimensions(whole: list[Run], draft: Draft) -> bool:
    """Whether the result has a dimension though the operands have none; a shape that is given may be empty."""
    if any(each.name in ("size", "shape", "sizes", "output_size") for each in draft.parameters):
        return False
    return not all(run.highest for run in whole) and all(run.result.dimensions for run in whole)


def _followed(mixed: Iterable[Outcome], roles: dict[str, str]) -> str | None:
    """The operand on whose device the result is, if no device is common to the operands."""
    if {"On", "Scalar"} & set(roles.values()):
        return None
    accepted = [each for each in mixed if each.accepted and each.result is not None and each.result.device]
    candidates = [name for name in roles if all(each.placed.get(name) == each.result.device for each in accepted)]  # type: ignore[union-attr]  # filtered above
    return next(iter(candidates or roles), None)


def _reducing(whole: list[Run], draft: Draft) -> str | None:
    """The parameter without which the result has no dimensions; ``keepdim=True`` keeps them.

    ``reduction`` says that even if no sample has ``reduction="none"``.
    """
    shown = [run for run in whole if run.highest]
    for name in _REDUCING:
        without = [run.result.dimensions for run in shown if name not in run.given and "keepdim" not in run.given]
        having = [run.result.dimensions for run in shown if name in run.given]
        is_whole = bool(without) and not any(without)
        if draft.parameter(name) is not None and is_whole and (any(having) or name == "reduction"):
            return name
    return None
