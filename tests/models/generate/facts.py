"""What is known about every overload: words for its operands and for its result."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from devfix.simulator import Simulator

from .declared import declared
from .drafts import OPERAND, Draft, Parameter, bind, tensors_in
from .names import METHODS, functions
from .overloads import overloads
from .probing import Evidence, probe
from .roles import followed, result_word, role
from .samples import Sample, samples
from .synthetic import made_up, shorter, taller

__all__ = ["Fact", "facts"]


@dataclass(frozen=True)
class Fact:
    """One overload with words for its parameters and its result."""

    draft: Draft
    words: dict[str, str]
    result: str


def facts(names: Iterable[str] | None = None) -> dict[str, list[Fact]]:
    """Return the facts by public name, for all names or for some."""
    drafts = overloads()
    wanted = list(drafts if names is None else names)
    related = _with_relatives(wanted)
    calls = samples(related)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Simulator():
            evidence = {name: _evidence(name, drafts[name], calls[name]) for name in related}
    return {
        name: _with_numbers_one_by_one(
            [
                each
                for draft, found in zip(drafts[name], evidence[name], strict=True)
                for each in _with_numbers(_fact(name, draft, found, evidence))
            ]
        )
        for name in wanted
    }


def _with_numbers(fact: Fact) -> Iterator[Fact]:
    """Split an overload whose operands are tensors that must agree, or numbers: ``clamp(x, 0, 1)``."""
    numbers = {each.name for each in fact.draft.parameters if each.numbers and fact.words.get(each.name) == "On"}
    if numbers:
        yield replace(fact, words={**fact.words, **dict.fromkeys(numbers, "float")})
    yield fact


def _with_numbers_one_by_one(found: list[Fact]) -> list[Fact]:
    """Give ``count_nonzero(*dim)`` the result of ``count_nonzero(dim)``, whose samples say more."""
    results = {each.name: fact.result for fact in found for each in fact.draft.parameters if each.kind == "plain"}
    return [
        replace(fact, result=next((results[each.name] for each in _rests(fact) if each.name in results), fact.result))
        for fact in found
    ]


def _rests(fact: Fact) -> list[Parameter]:
    return [each for each in fact.draft.parameters if each.kind == "rest"]


def _relatives(name: str) -> Iterator[str]:
    """The same operation under other names: function, method, in-place form."""
    base = name.rpartition(".")[2]
    bare = base[:-1] if base.endswith("_") and not base.endswith("__") else base
    for prefix in ("torch.", METHODS, "torch.nn.functional."):
        yield from (other for other in (prefix + bare, f"{prefix}{bare}_") if other != name)


def _with_relatives(names: list[str]) -> list[str]:
    known = overloads()
    found = dict.fromkeys(names)
    for name in names:
        found.update(dict.fromkeys(other for other in _relatives(name) if other in known))
    return list(found)


def _evidence(name: str, drafts: list[Draft], calls: list[Sample]) -> list[Evidence]:
    function = functions()[name]

    def first_fit(sample: Sample) -> Draft | None:
        return next((draft for draft in drafts if bind(draft, sample.args, sample.kwargs) is not None), None)

    found = []
    given = [(first_fit(sample), sample) for sample in calls]
    for draft in drafts:
        own = _various(draft, [sample for fit, sample in given if fit is draft])
        own += shorter(draft, own[:3], first_fit) + taller(own)
        evidence = probe(function, draft, own)
        if not evidence.whole:
            evidence = probe(function, draft, made_up(name, function, draft))
        found.append(evidence)
    return found


_MOST = 16


def _various(draft: Draft, calls: list[Sample]) -> list[Sample]:
    """Choose calls so that each operand, each option, and each value of a flag or a string is given in one of them."""
    covered: set[Any] = set()
    first, rest = [], []
    for sample in calls:
        bound = bind(draft, sample.args, sample.kwargs) or {}
        highest = max((tensor.dim() for tensor in tensors_in(list(bound.values()))), default=0)
        features = {(name, _feature(value), highest > 1) for name, value in bound.items()}
        (rest if features <= covered else first).append(sample)
        covered |= features
    return (first + rest)[:_MOST]


def _feature(value: Any) -> Any:
    tensors = tensors_in(value)
    if tensors:
        return "tensor", any(tensor.dim() == 0 for tensor in tensors), max(tensor.dim() for tensor in tensors) > 1
    return value if isinstance(value, (str, bool)) else type(value).__name__


def _shown(name: str, draft: Draft, evidence: dict[str, list[Evidence]]) -> dict[str, str]:
    """Roles that probes of other overloads, and of the same operation under other names, have shown."""
    found: dict[str, str] = {}
    for other in (name, *_relatives(name)):
        for each in evidence.get(other, ()):
            for operand in each.tensors:
                word = role(each, operand)
                if word is not None:
                    found.setdefault(_plain(operand), word)
    return found


def _plain(name: str) -> str:
    return "self" if name == "input" else name


def _words(name: str, draft: Draft, own: Evidence, evidence: dict[str, list[Evidence]]) -> dict[str, str]:
    """Roles of operands: by probes, by the operator table, and ``Any`` where nothing says that devices are compared."""
    operands = {*draft.operands, *own.tensors}
    names = [each.name for each in draft.parameters if each.name in operands]
    words = {each: role(own, each) for each in names}
    if len(names) > 1:
        shown, table = _shown(name, draft, evidence), declared(name, draft)
        words = {each: word or shown.get(_plain(each)) or table.get(each) for each, word in words.items()}
    if names and words[names[0]] is None and not {"On", "Scalar"} & set(words.values()):
        words[names[0]] = "On"
    return {each: word or "Any" for each, word in words.items()}


def _fact(name: str, draft: Draft, own: Evidence, evidence: dict[str, list[Evidence]]) -> Fact:
    words = _words(name, draft, own, evidence)
    result = _result(draft, own, words)
    if list(words.values()) == ["On"] and result.startswith(_ELSEWHERE):
        words = dict.fromkeys(words, "Any")
    if _is_in_place(name):
        words.update({each: "Written" for each in words if each in ("self", "input")})
    if own.outputs and all(own.outputs):
        words["out"] = "Any"
    return Fact(draft, words, result)


# Results of functions that only ask the one operand for something.
_ELSEWHERE = ("Like", "Fresh", "int", "float", "bool", "str", "None")


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _result(draft: Draft, own: Evidence, words: dict[str, str]) -> str:
    if draft.parameter("device") is not None and draft.result in (OPERAND, "") and not own.host:
        return _created(own, words)
    found = result_word(draft, own, words)
    if found is None:
        return (draft.result.replace(OPERAND, "On") if words or OPERAND not in draft.result else "") or "Any"
    return found


def _created(own: Evidence, words: dict[str, str]) -> str:
    """The result of a function with ``device=``: as one of the operands without it, or on the default device."""
    devices = {run.result.device for run in own.whole if "device" not in run.given and run.result.kind == "Tensor"}
    like = followed(own, words) or next(iter(words), None)
    return "Fresh[device]" if like is None or devices == {"cpu"} else f"Like[{like}]"
