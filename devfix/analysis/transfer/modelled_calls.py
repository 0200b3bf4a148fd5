"""Calls of functions that a stub or the generated table describes: checks by parameter words, a result by its word."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from devfix.analysis import host_access, parameter_copies, random_branches, scenarios
from devfix.analysis.domain.objects import object_at
from devfix.analysis.domain.records import dataclass, replace
from devfix.analysis.domain.state import Unreachable
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Bound,
    Const,
    Device,
    DeviceValue,
    External,
    Function,
    IterableOf,
    Keywords,
    Number,
    Origin,
    Partial,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib import builtins, futures, numpy_
from devfix.analysis.stdlib.containers import ListObject
from devfix.analysis.torch import factories, library_modules, rng
from devfix.analysis.transfer.bound_call import Argument, BoundCall, bind
from devfix.analysis.transfer.device_check import OperandSet, check_same_device, tensors_in

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.models.index import Model
    from devfix.models.signatures import Word

__all__ = ["Site", "call_method", "call_modelled"]


@dataclass(frozen=True)
class Site:
    """A call that is being modelled: its name, its arguments as written, and its node."""

    name: str
    args: list[Value]
    keywords: Keywords
    node: ast.Call
    operation: str


@dataclass(frozen=True)
class _Common:
    """The operands of a call: their device, and the one tensor if there is only one."""

    device: Device
    origins: tuple[Origin, ...]
    operands: tuple[OperandSet, ...]
    single: Value | None


def call_modelled(
    interp: Interpreter,
    model: Model,
    args: list[Value],
    keywords: Keywords,
    node: ast.Call,
    receiver: Value | None = None,
) -> Value | None:
    """Call a function by its signatures; ``None`` if the arguments fit none of them.

    ``receiver`` is the argument for the first parameter of a method or of ``__new__``.
    """
    site = Site(model.name, args, keywords, node, model.name.split(".")[-1])
    first = (receiver, node.func) if receiver is not None else None
    call = bind(model.signatures, args, keywords, node, first)
    return _run(interp, site, call) if call is not None else None


def call_method(
    interp: Interpreter, receiver: Tensor, model: Model, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value | None:
    """Call a method of a tensor by its signatures; ``None`` if the arguments fit none of them."""
    expression = node.func.value if isinstance(node.func, ast.Attribute) else node.func  # ``move = x.cuda; move()``
    site = Site(model.name, [receiver, *args], keywords, node, f".{model.name.split('.')[-1]}()")
    call = bind(model.signatures, args, keywords, node, (receiver, expression))
    return _run(interp, site, call) if call is not None else None


def _run(interp: Interpreter, site: Site, call: BoundCall) -> Value:
    _note_host_accesses(interp, site, call)
    common = _check(interp, site, call)
    for argument in call.with_word("Out"):
        if isinstance(argument.value, Tensor):
            return argument.value
    for argument in call.with_word("Generator"):
        if common.device.known and call.signature.result.name not in ("Fresh", "Like"):
            rng.draw(interp, argument.value, common.device, "method", site.node)
    if call.signature.result.name not in ("Calls", "Future", "Maps", "Overlay"):
        for argument in call.with_word("Callable"):
            _call_back(interp, argument.value, site.node)
    return _result(interp, call.signature.result, site, call, common)


# --- parameters -----------------------------------------------------------------------------------------------------
def _note_host_accesses(interp: Interpreter, site: Site, call: BoundCall) -> None:
    for argument in call.with_word("Host", "HostItems"):
        if argument.expression is None:
            continue
        if argument.parameter.word.name == "HostItems" and isinstance(argument.value, Tensor):
            continue
        is_receiver = isinstance(site.node.func, ast.Attribute) and argument.expression is site.node.func.value
        if is_receiver and site.keywords.get("force") == Const(True):
            continue  # copied, https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html
        if is_receiver:
            host_access.note_access(interp, site.node, site.operation, argument.value, argument.expression, "numpy")
        else:
            host_access.note_access(interp, site.node, site.name, argument.value, argument.expression)


def _call_back(interp: Interpreter, value: Value, node: ast.Call) -> None:
    """Call a function of the project as a library does that it is passed to; how it ends is the library's affair."""
    for option in alternatives(value):
        if isinstance(option, (Function, Bound, Partial, Pointer)):
            before = interp.now.fork()
            with suppress(Unreachable):
                interp.call(option, [], {}, node)
            if not interp.alive:
                interp.state = before


def _check(interp: Interpreter, site: Site, call: BoundCall) -> _Common:
    operands: list[OperandSet] = []
    tensors: list[Value] = []
    written = None
    for argument in call.with_word("On", "Scalar", "Written", "Out"):
        found = _operands_of(interp, argument)
        operands += found
        tensors += [argument.value] * bool(found)
        if argument.parameter.word.name == "Written" and found:
            written = found[0]
    single = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (Tensor, Union)) else None
    if single is not None and _may_be_joined(call, single):
        return _Common(UNKNOWN_DEVICE, (), tuple(operands), Tensor(UNKNOWN_DEVICE, is_certain=False))
    if single is not None:
        device, origins = _device_of(single)
    else:
        device, origins = check_same_device(
            interp, site.node, site.operation, operands, allow_cpu_scalars=True, written=written
        )
    return _Common(device, origins, tuple(operands), single)


def _may_be_joined(call: BoundCall, single: Value) -> bool:
    """Return whether a tensor without dimensions gets an operand of which nothing is known, whose device decides."""
    given = [argument.value for argument in call.with_word("On", "Scalar", "Written")]
    others = [option for value in given if value is not single for option in alternatives(value)]
    is_open = any(isinstance(option, (Unknown, External, Pointer)) for option in others)
    options = alternatives(single)
    return is_open and all(isinstance(option, Tensor) and option.maybe_zero_dim for option in options)


def _operands_of(interp: Interpreter, argument: Argument) -> list[OperandSet]:
    found = tensors_in(interp, argument.value, argument.text)
    if isinstance(argument.value, (Pointer, TupleValue, IterableOf)):
        found = random_branches.split_random_results(interp, found)
    for operand in found:
        operand.may_join = argument.parameter.word.name == "Scalar"
    return found


def _device_of(value: Value) -> tuple[Device, tuple[Origin, ...]]:
    tensors = [option for option in alternatives(value) if isinstance(option, Tensor)]
    devices = {tensor.device for tensor in tensors}
    device = devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE
    return device, tensors[0].origins if len(tensors) == 1 else ()


# --- results --------------------------------------------------------------------------------------------------------
def _result(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    return _RESULTS[word.name](interp, word, site, call, common)


def _on_common_device(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    whole = word.name == "Number" or (bool(word.arguments) and not call.is_given(word.arguments[0].name))
    if common.single is not None:
        return join(
            _like_operand(option, word.name, whole)
            for option in alternatives(common.single)
            if isinstance(option, Tensor)
        )
    if not common.operands and len(call.signature.operands) == 1:
        return UNKNOWN
    keeps_dimensions = word.name != "Vector"
    all_zero_dim = bool(common.operands) and all(operand.maybe_zero_dim for operand in common.operands)
    return Tensor(
        common.device,
        common.origins,
        maybe_zero_dim=whole or (keeps_dimensions and all_zero_dim),
        grad=word.name != "Integral" and any(operand.grad for operand in common.operands),
        is_single_number=whole or (all_zero_dim and all(operand.is_single_number for operand in common.operands)),
    )


def _like_operand(tensor: Tensor, word: str, whole: bool) -> Tensor:
    """Return the result of a function of one tensor: it keeps what is known about it."""
    return replace(
        tensor,
        maybe_container=tensor.maybe_container and not whole,
        maybe_zero_dim=whole or (tensor.maybe_zero_dim and word != "Vector"),
        grad=tensor.grad and word != "Integral",
        is_single_number=whole or (tensor.is_single_number and word != "Vector"),
    )


def _tuple(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    items = [_result(interp, inner, site, call, common) for inner in word.arguments]
    return TupleValue(tuple(_part(item, index) for index, item in enumerate(items)))


def _part(value: Value, index: int) -> Value:
    """Return one tensor of several: its origin is a part of the operand's."""
    if not isinstance(value, Tensor):
        return value
    origins = tuple(Origin(each.kind, each.site_id, (*each.path, str(index))) for each in value.origins)
    return replace(value, origins=origins, maybe_container=False, maybe_zero_dim=False, is_single_number=False)


def _list(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    item = _result(interp, word.arguments[0], site, call, common)
    return replace(item, maybe_container=True, maybe_zero_dim=False) if isinstance(item, Tensor) else item


def _of(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    for value in call.values(word.arguments[0].name):
        tensors = [option for option in alternatives(value) if isinstance(option, Tensor)]
        if tensors:
            return join(tensors)
        if object_at(interp, value, ListObject) is not None:
            inner = interp.element(value, site.node)
            if isinstance(inner, Tensor):
                return inner
    return UNKNOWN


def _fresh(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    place = word.arguments[0].name
    if place == "accelerator":
        return factories.on_accelerator(interp, site.node)
    default = CPU if place == "cpu" else interp.default_device
    return factories.fresh(interp, site.args, _device_keyword(site, call, place), site.node, default)


def _device_keyword(site: Site, call: BoundCall, name: str) -> Keywords:
    """Return the keywords of a factory, with a device that was given by position."""
    given = call.values(name)
    return {**site.keywords, "device": given[0]} if given and "device" not in site.keywords else site.keywords


def _like(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    sources = call.values(word.arguments[0].name)
    source = _one_of(interp, sources[0]) if sources else UNKNOWN
    return factories.like(interp, source, _device_keyword(site, call, "device"), site.node)


def _one_of(interp: Interpreter, source: Value) -> Value:
    """Return one tensor for a container of tensors; unknown unless all are on one device."""
    if not isinstance(source, (Pointer, TupleValue, IterableOf)):
        return source
    devices = {device for operand in tensors_in(interp, source, "…") for device in operand.devices}
    return Tensor(devices.pop()) if len(devices) == 1 else UNKNOWN


def _same(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    values = call.values(word.arguments[0].name)
    return values[0] if values else UNKNOWN


def _copy(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    values = call.values(word.arguments[0].name)
    if not values:
        return UNKNOWN
    for tensor in parameter_copies.tensors_in(interp, values[0]):
        parameter_copies.note_copy(interp, tensor, site.node)
    return builtins.deep_copy(interp, values[0], site.node)


def _calls(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    """Call the function in the first parameter with the arguments for the others."""
    called, *passed = (argument.name for argument in word.arguments)
    given = [argument for argument in call.arguments if argument.parameter.name in passed]
    args = [argument.value for argument in given if argument.parameter.kind != "keywords"]
    further = {key: value for key, value in site.keywords.items() if call.signature.parameter(key) is None}
    passes_further = any(each.kind == "keywords" for each in call.signature.parameters if each.name in passed)
    functions = call.values(called)
    return interp.call(functions[0], args, further if passes_further else {}, site.node) if functions else UNKNOWN


def _maps(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    """Call the function in the first parameter with items of the others; return its results."""
    called, *passed = (argument.name for argument in word.arguments)
    given = [argument.value for argument in call.arguments if argument.parameter.name in passed]
    functions = call.values(called)
    items = [interp.element(value, site.node) for value in given]
    return IterableOf(interp.call(functions[0], items, {}, site.node)) if functions and items else UNKNOWN


def _future(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    return futures.future(interp, _result(interp, word.arguments[0], site, call, common))


def _anything(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    if call.signature.parameters and _is_class_that_reads(site, call):
        return interp.new_opaque(site.name, site.node)
    return numpy_.result_of(site.name, site.args, site.keywords, site.node) or Unknown(f"{site.name}()")


def _is_class_that_reads(site: Site, call: BoundCall) -> bool:
    """Return whether a name that a wildcard describes is a class: an estimator, a figure."""
    reads = any(parameter.word.name == "Host" for parameter in call.signature.parameters)
    return reads and site.name.split(".")[-1][:1].isupper()


def _object(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    return interp.new_opaque(word.arguments[0].name, site.node)


def _module(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    if not word.arguments:
        return library_modules.opaque_module(interp, site.name, site.node)
    given = [option for value in call.values(word.arguments[0].name) for option in alternatives(value)]
    devices = {option.device if isinstance(option, Tensor) else UNKNOWN_DEVICE for option in given}
    device = devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE
    return library_modules.opaque_module(interp, site.name, site.node, device)


def _needs(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    scenarios.require_accelerator(interp, site.node)
    return _result(interp, word.arguments[0], site, call, common)


def _device(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    """Return the accelerator, or the index of the device of an argument, which is -1 for the CPU."""
    place = word.arguments[0].name
    if place == "accelerator":
        return DeviceValue(interp.scenario.best_device)
    given = [option for value in call.values(place) for option in alternatives(value)]
    devices = {option.device if isinstance(option, Tensor) else UNKNOWN_DEVICE for option in given}
    device = devices.pop() if len(devices) == 1 else UNKNOWN_DEVICE
    return Const(-1) if device == CPU else DeviceValue(device) if device.known else Number(f"{site.name}()")


def _escapes(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    interp.escape([*site.args, *site.keywords.values()])
    return Unknown(f"{site.name}()")


def _exits(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    raise Unreachable


_LITERALS = {"True": True, "False": False, "None": None}


def _literal(interp: Interpreter, word: Word, site: Site, call: BoundCall, common: _Common) -> Value:
    text = word.arguments[0].name
    return Const(_LITERALS.get(text, text))


_ResultFunction = Callable[["Interpreter", "Word", Site, BoundCall, _Common], Value]

_RESULTS: dict[str, _ResultFunction] = {
    "Any": _anything,
    "Array": _anything,
    "Calls": _calls,
    "Copy": _copy,
    "Device": _device,
    "Escapes": _escapes,
    "Exits": _exits,
    "Fresh": _fresh,
    "Future": _future,
    "Integral": _on_common_device,
    "Like": _like,
    "Literal": _literal,
    "Maps": _maps,
    "Module": _module,
    "Needs": _needs,
    "None": lambda *_: NONE,
    "Number": _on_common_device,
    "Object": _object,
    "Of": _of,
    "On": _on_common_device,
    "OnCPU": lambda *_: Tensor(CPU),
    "Reduced": _on_common_device,
    "Same": _same,
    "Vector": _on_common_device,
    "bool": lambda interp, word, site, call, common: Unknown(f"{site.name}()"),
    "float": lambda interp, word, site, call, common: Number(f"{site.name}()"),
    "int": lambda interp, word, site, call, common: Number(f"{site.name}()"),
    "list": _list,
    "str": lambda *_: Text(),
    "tuple": _tuple,
}
