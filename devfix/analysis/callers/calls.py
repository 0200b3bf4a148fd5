"""Arguments that are passed on: what the function that receives them says about them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.callers.attributes import kinds_with, tensor_method
from devfix.analysis.callers.file_names import FileNames
from devfix.analysis.callers.votes import ANY_KIND, Forward, Votes
from devfix.models.index import Model, lookup
from devfix.models.signatures import Parameter

__all__ = ["KEYWORDS", "pass_on"]

_CONTAINERS = frozenset({Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_DICT, Kind.ARRAY, Kind.LIST, Kind.TEXT, Kind.MODULE})
_SCALARS = frozenset({Kind.TENSOR, Kind.NUMBER, Kind.BOOL, Kind.ARRAY, Kind.TEXT})
_HOST = ANY_KIND - {Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_DICT}

# Python's own functions (https://docs.python.org/3/library/functions.html): the kinds that they allow.
_BUILTINS: dict[str, frozenset[Kind]] = {
    "range": frozenset({Kind.NUMBER}),
    "open": frozenset({Kind.TEXT}),
    "len": _CONTAINERS,
    "enumerate": _CONTAINERS,
    "zip": _CONTAINERS,
    "sorted": _CONTAINERS,
    "reversed": _CONTAINERS,
    "int": _SCALARS,
    "float": _SCALARS,
    "round": _SCALARS,
    "divmod": _SCALARS,
}
#: Names of parameters that mean the same in every function.
KEYWORDS = {"device": Kind.DEVICE, "dtype": Kind.DTYPE, "ndarray": Kind.ARRAY}

# What an argument is that a signature describes with one of these words.
_WORD_KINDS: dict[str, frozenset[Kind]] = {
    "On": frozenset({Kind.TENSOR, Kind.TENSORS}),
    "Written": frozenset({Kind.TENSOR}),
    "Out": frozenset({Kind.TENSOR}),
    "Scalar": frozenset({Kind.TENSOR, Kind.NUMBER, Kind.BOOL}),
    "Host": _HOST,
    "HostItems": _HOST,
    "Device": frozenset({Kind.DEVICE, Kind.TEXT, Kind.NUMBER}),
    "Callable": frozenset({Kind.CALLABLE, Kind.MODULE}),
    "int": frozenset({Kind.NUMBER, Kind.BOOL, Kind.LIST}),
    "float": frozenset({Kind.NUMBER, Kind.BOOL, Kind.LIST}),
    "bool": frozenset({Kind.BOOL, Kind.NUMBER}),
    "str": frozenset({Kind.TEXT}),
    "None": frozenset(),
}
_SHOWN = {
    "On": Kind.TENSOR,
    "Written": Kind.TENSOR,
    "Out": Kind.TENSOR,
    "Device": Kind.DEVICE,
    "int": Kind.NUMBER,
    "float": Kind.NUMBER,
    "bool": Kind.BOOL,
    "str": Kind.TEXT,
}


def pass_on(
    votes: Votes, call: ast.Call, place: int | str, names: FileNames, owner: ast.ClassDef | None, packed: bool = False
) -> None:
    """Count that an argument is passed on.

    Args:
        votes: the votes for the argument.
        call: the call that receives it.
        place: its position or keyword.
        names: the names of the file.
        owner: the class whose ``self`` is in scope.
        packed: whether it is an element of a list or tuple that is passed.

    """
    if place in KEYWORDS and not packed:
        votes.show(KEYWORDS[str(place)], Kind.TEXT, Kind.NUMBER)
        return
    name = names.full_name(call.func)
    if name in _BUILTINS and not packed:
        votes.allow(_BUILTINS[name])
        votes.is_sequence |= _BUILTINS[name] is _CONTAINERS
        if len(_BUILTINS[name]) == 1:
            votes.strong |= _BUILTINS[name]
        return
    forward = None if packed else _forward(call.func, name, place, names, owner)
    if forward is not None:
        votes.forwards.append(forward)
        return
    model = lookup(name) if "." in name and not name.startswith("self.") else None
    if model is None and isinstance(call.func, ast.Attribute):
        if owner is not None and name.startswith("self."):
            _pass_to_module(votes, call, place, names, owner, packed)
            return
        if kinds_with(call.func.attr, True) == {Kind.TENSOR}:
            model = tensor_method(call.func.attr)
            if isinstance(place, int):
                place += 1
    if model is not None and model.kind == "function":
        _pass_to_model(votes, model, call, place, packed)


def _forward(
    func: ast.expr, name: str, place: int | str, names: FileNames, owner: ast.ClassDef | None
) -> Forward | None:
    """Return the function of the file that is called."""
    if name in names.functions:
        return Forward(names.functions[name], None, place)
    if name in names.classes:
        return _method(names, names.classes[name], "__init__", place)
    first, _, rest = name.partition(".")
    if first in ("self", "cls") and owner is not None and "." not in rest:
        method = _method(names, owner, rest, place)
        if method is not None:
            return method
        made = names.attribute_class(owner, rest)
        if made in names.classes:
            return _method(names, names.classes[made], "forward", place)
    if first in names.classes and rest == "apply" and isinstance(place, int):
        return _method(names, names.classes[first], "forward", place + 1)  # behind `ctx`
    return None


def _method(names: FileNames, owner: ast.ClassDef, method: str, place: int | str) -> Forward | None:
    found = names.method(owner, method)
    return Forward(found[0], found[1], place) if found is not None else None


def _pass_to_module(
    votes: Votes, call: ast.Call, place: int | str, names: FileNames, owner: ast.ClassDef, packed: bool
) -> None:
    """Count a call of a module that a method of the class makes: ``self.linear(x)``."""
    func = call.func
    if not (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)):
        return
    made = names.attribute_class(owner, func.attr)
    model = lookup(made) if made else None
    if model is None or model.root not in ("Module", "Loss"):
        return
    method = model.method("__call__")
    if method is not None:
        _pass_to_model(votes, method, call, place + 1 if isinstance(place, int) else place, packed)
    elif place == 0 and not packed:
        votes.show(Kind.TENSOR)


def _pass_to_model(votes: Votes, model: Model, call: ast.Call, place: int | str, packed: bool) -> None:
    keywords = tuple(keyword.arg or "" for keyword in call.keywords)
    offset = 1 if isinstance(place, int) and call.args and place >= len(call.args) else 0
    found = _parameters(model, place, len(call.args) + offset, keywords)
    kinds = {KEYWORDS.get(parameter.name) for parameter in found}
    if len(kinds) == 1 and (kind := kinds.pop()) is not None and not packed:
        votes.show(kind, Kind.TEXT, Kind.NUMBER)
        return
    words = {parameter.word.name for parameter in found}
    if not words or not words <= _WORD_KINDS.keys():
        return
    is_sequence = any(parameter.name == "tensors" and parameter.kind != "rest" for parameter in found)
    if packed and not is_sequence:
        return
    if is_sequence:
        votes.show(Kind.TENSOR if packed else Kind.TENSORS, *(() if packed else (Kind.LIST, Kind.TENSOR)))
        return
    votes.allow(frozenset().union(*(_WORD_KINDS[word] for word in words)))
    shown = {_SHOWN.get(word) for word in words}
    if len(shown) == 1 and None not in shown:
        votes.strong |= {kind for kind in shown if kind is not None}


@lru_cache(maxsize=8192)
def _parameters(model: Model, place: int | str, count: int, keywords: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Return the parameters that receive an argument, in the signatures that the call fits."""
    found: list[Parameter] = []
    for signature in model.signatures:
        positional = [parameter for parameter in signature.parameters if parameter.kind in ("positional", "plain")]
        rest = next((parameter for parameter in signature.parameters if parameter.kind == "rest"), None)
        if count > len(positional) and rest is None:
            continue
        if any(keyword and not _accepts(signature.parameters, keyword) for keyword in keywords):
            continue
        found += _receiving(positional, rest, signature.parameters, place)
    return tuple(found)


def _receiving(
    positional: list[Parameter], rest: Parameter | None, parameters: tuple[Parameter, ...], place: int | str
) -> Iterator[Parameter]:
    if isinstance(place, int):
        if place < len(positional):
            yield positional[place]
        elif rest is not None:
            yield rest
        return
    yield from (parameter for parameter in parameters if parameter.name == place)


def _accepts(parameters: tuple[Parameter, ...], keyword: str) -> bool:
    return any(parameter.name == keyword or parameter.kind == "keywords" for parameter in parameters)
