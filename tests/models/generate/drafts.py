"""Signatures in the making: parameters with the word that is known so far, and a call's arguments by parameter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

__all__ = ["OPERAND", "TRUE", "Draft", "Parameter", "bind", "merged", "tensors_in"]

#: The word of a parameter that takes tensors, until probes have found its role.
OPERAND = "Tensor"

#: The word of a flag that selects the overload if it is set: ``nonzero(as_tuple=True)``.
TRUE = "Literal[True]"

_OPTIONS = frozenset({"dtype", "layout", "device", "pin_memory", "requires_grad", "memory_format"})
_NUMBERS = ("int", "float", "bool")
# Position of a word in the order of overloads: the more it refuses, the earlier.  ``bool`` comes last, because it
# refuses tensors only, and would take the place of ``dim`` in ``std(x, 1)``.
_RANKS = {"int": 0, "float": 0, "str": 0, OPERAND: 1, "": 2, "bool": 3}


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        name: its name.
        word: :data:`OPERAND`, a word of the table, or nothing.
        kind: ``plain``, ``rest`` (``*args``), ``keyword`` or ``keywords`` (``**kwargs``).
        optional: whether it has a default.
        numbers: whether an operand may be a number instead.

    """

    name: str
    word: str = ""
    kind: str = "plain"
    optional: bool = False
    numbers: bool = False


@dataclass(frozen=True)
class Draft:
    """One overload: its parameters, and the shape of its result (``Tensor``, ``list[Tensor]``, ``int`` ...).

    ``deprecated`` marks an old order of parameters, which comes after all others.
    """

    parameters: tuple[Parameter, ...]
    result: str = OPERAND
    deprecated: bool = False

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the parameters that take tensors."""
        return tuple(each.name for each in self.parameters if each.word == OPERAND)

    def parameter(self, name: str) -> Parameter | None:
        """Return a parameter by name."""
        return next((each for each in self.parameters if each.name == name), None)


def tensors_in(value: Any) -> list[Tensor]:
    """Tensors of an argument: itself, or those in a list or tuple."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for each in value for tensor in tensors_in(each)]
    return []


def _fits(parameter: Parameter, value: Any) -> bool:
    if parameter.word == TRUE:
        return value is True
    if value is None:
        return parameter.optional or parameter.word in (OPERAND, "")
    if tensors_in(value):
        return parameter.word not in (*_NUMBERS, "str", "Device", "Generator")
    if isinstance(value, str):
        return parameter.word in ("str", "", "Device")
    if isinstance(value, bool):
        return parameter.word in ("bool", "", "float") or (parameter.word == OPERAND and parameter.numbers)
    if isinstance(value, (int, float, complex)):
        if parameter.word == "bool" or (parameter.word == "int" and not isinstance(value, int)):
            return False
        return parameter.word in (*_NUMBERS, "", "Device") or (parameter.word == OPERAND and parameter.numbers)
    if isinstance(value, (list, tuple)) and value:
        return parameter.word not in _NUMBERS and (parameter.word != OPERAND or parameter.numbers)
    return True


def bind(draft: Draft, args: Iterable[Any], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Return a call's arguments by parameter; None if the overload does not take them."""
    args, found = list(args), {}
    positional = [each for each in draft.parameters if each.kind == "plain"]
    rest = next((each for each in draft.parameters if each.kind == "rest"), None)
    if len(args) > len(positional) and rest is None:
        return None
    for parameter, value in zip(positional, args, strict=False):
        found[parameter.name] = value
    if rest is not None and len(args) > len(positional):
        found[rest.name] = tuple(args[len(positional) :])
    names = {each.name for each in draft.parameters if each.kind in ("plain", "keyword")}
    keywords = next((each for each in draft.parameters if each.kind == "keywords"), None)
    for name, value in kwargs.items():
        if name in found or (name not in names and keywords is None):
            return None
        found[name] = value
    for parameter in draft.parameters:
        if parameter.name not in found:
            if not parameter.optional and parameter.kind in ("plain", "keyword"):
                return None
        elif not _fits(parameter, found[parameter.name]):
            return None
    return found


def _shape(draft: Draft) -> tuple[Any, ...]:
    """What makes two overloads the same call: names and kinds, without ``out=``."""
    return tuple((each.name, each.kind) for each in draft.parameters if each.word != "Out")


def _both(one: Parameter, other: Parameter) -> Parameter:
    words = {one.word, other.word}
    word, numbers = one.word, one.numbers or other.numbers
    if len(words) > 1:
        word = OPERAND if OPERAND in words else "float" if words <= {"int", "float"} else ""
        numbers = numbers or bool(words & {"int", "float", ""})
    return replace(one, word=word, numbers=numbers, optional=one.optional or other.optional)


def _joined(one: Draft, other: Draft) -> Draft:
    out = next((each for each in (*one.parameters, *other.parameters) if each.word == "Out"), None)
    plain = [
        _both(left, right)
        for left, right in zip(
            (each for each in one.parameters if each.word != "Out"),
            (each for each in other.parameters if each.word != "Out"),
            strict=True,
        )
    ]
    if out is not None:
        at = next((index for index, each in enumerate(plain) if each.kind == "keywords"), len(plain))
        plain.insert(at, replace(out, optional=True))
    return replace(one, parameters=tuple(plain))


def _order(draft: Draft) -> tuple[Any, ...]:
    ranks = [_RANKS.get(each.word, 2) for each in draft.parameters if each.kind == "plain"]
    return draft.deprecated, _has_rest(draft), ranks, not _has_flag(draft), len(draft.parameters), str(draft.parameters)


def _has_rest(draft: Draft) -> bool:
    return any(each.kind == "rest" for each in draft.parameters)


def _has_flag(draft: Draft) -> bool:
    return any(each.word == TRUE for each in draft.parameters)


def merged(drafts: Iterable[Draft]) -> list[Draft]:
    """Overloads, with those joined that differ in ``out=`` or in tensor and number, the more specific first."""
    found: dict[tuple[Any, ...], Draft] = {}
    for draft in drafts:
        key = (_shape(draft), draft.result)
        found[key] = _joined(found[key], draft) if key in found else draft
    return sorted(_without_covered(_factories_with_out(list(found.values()))), key=_order)


def _factories_with_out(drafts: list[Draft]) -> list[Draft]:
    """Give a factory the ``out=`` of the overload that has no ``device=``."""
    factories = [each for each in drafts if each.parameter("device") is not None and each.parameter("out") is None]
    found = list(drafts)
    for draft in factories:
        names = {each.name for each in draft.parameters}
        for other in drafts:
            others = {each.name for each in other.parameters if each.word != "Out"}
            if other.parameter("out") is not None and others < names and others | _OPTIONS >= names:
                found[found.index(draft)] = replace(draft, parameters=(*draft.parameters, other.parameter("out")))
                found.remove(other)
                break
    return found


def _without_covered(drafts: list[Draft]) -> Iterator[Draft]:
    """Leave out an overload whose calls another one takes as well: ``std(x, dim)`` beside ``std(x, dim=None)``."""
    for draft in drafts:
        if not any(other is not draft and _covers(other, draft) for other in drafts):
            yield draft


def _covers(wide: Draft, narrow: Draft) -> bool:
    """Whether an overload has the parameters of another one in their places, and only optional ones besides."""
    if wide.result != narrow.result or len(wide.parameters) <= len(narrow.parameters):
        return False
    if any(each.kind in ("rest", "keywords") for each in (*wide.parameters, *narrow.parameters)):
        return False
    for index, parameter in enumerate(narrow.parameters):
        other = wide.parameter(parameter.name)
        if other is None or (other.word, other.numbers) != (parameter.word, parameter.numbers):
            return False
        if parameter.kind == "plain" and wide.parameters[index] != other:
            return False
        if parameter.optional and not other.optional:
            return False
    names = {each.name for each in narrow.parameters}
    return all(each.optional for each in wide.parameters if each.name not in names)
