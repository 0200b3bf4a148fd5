"""Functions that make tensors, combine them, and name devices."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.flow import arrays, checkpoints, copies, generators, hosts, iteration, machines
from devfix.flow.knowledge_of_methods import MEAN_LOSSES, PAIRS, REDUCTIONS, UNDIFFERENTIABLE
from devfix.flow.meetings import Side, meet, tensors_in
from devfix.flow.places import device_argument, place_of
from devfix.flow.syntax import text_of
from devfix.flow.values import (
    ACCELERATOR,
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    DeviceValue,
    Keywords,
    Number,
    Place,
    Record,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    Yields,
    options,
    union,
)

if TYPE_CHECKING:
    from devfix.flow.interpreter import Interpreter

__all__ = ["BEHAVIOURS"]
Behaviour = Callable[["Interpreter", str, list[Value], Keywords, ast.Call], Value]


def _sides(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> list[Side]:
    texts = [text_of(argument) for argument in node.args] + ["…"] * len(args)
    named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords}
    pairs = [
        *zip(args, texts, strict=False),
        *((value, named.get(key, key)) for key, value in keywords.items() if key != "out"),
    ]
    return [side for value, text in pairs for side in tensors_in(run, value, text)]


def _mixes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    sides = _sides(run, args, keywords, node)
    place, births = meet(run, node, name.split(".")[-1], sides)
    scalar = name.split(".")[-1] in MEAN_LOSSES and not {"reduction", "reduce", "**"} & set(keywords)
    return Tensor(place, births, scalar=scalar, grad=any(side.grad for side in sides), single=scalar)


def _pointwise(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    sides = _sides(run, args, keywords, node)
    last = name.split(".")[-1]
    place, births = meet(run, node, last, sides, scalars_are_free=True)
    return Tensor(place, births, grad=last not in UNDIFFERENTIABLE and any(side.grad for side in sides))


_GIVES_DIMENSIONS = frozenset(
    "atleast_1d atleast_2d atleast_3d bincount broadcast_to diag flatten nonzero one_hot ravel repeat_interleave "
    "reshape tile unsqueeze".split()
)


def _still_scalar(tensor: Tensor, name: str) -> bool:
    """``torch.sqrt(torch.tensor(2.0))`` has no dimensions, either."""
    return tensor.scalar and name not in _GIVES_DIMENSIONS


def _meshgrid(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place, births = meet(run, node, "meshgrid", _sides(run, args, {}, node))
    return Tensor(place, births, loose=True)


def _keeps_first(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    last = name.split(".")[-1]
    for value in [*args, *keywords.values()]:
        for option in options(value):
            if isinstance(option, Tensor):
                last = name.split(".")[-1]
                whole = last in REDUCTIONS and len(args) == 1 and not {"dim", "axis"} & set(keywords)
                if last in PAIRS and not whole and last != "msort":
                    return values_and_indices(option)
                grad = option.grad and last not in UNDIFFERENTIABLE
                several = last in ("split", "chunk", "unbind")
                loose = (option.loose or several) and not whole
                scalar = whole or _still_scalar(option, last)
                return replace(option, loose=loose, scalar=scalar, grad=grad, single=whole)
            if isinstance(option, Ref) and run.record(option).kind == "list":
                inner = iteration.element(run, option, node)
                if isinstance(inner, Tensor):
                    return inner
    return UNKNOWN


def _keeps_list(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    inner = iteration.element(run, args[0], node) if args else UNKNOWN
    return inner if isinstance(inner, Tensor) else Tensor(ANYWHERE)


def _factory(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords) or _default_of(run, name)
    run.facts.accelerated |= place == ACCELERATOR
    generators.draw(run, keywords.get("generator"), place, "factory", node)
    machines.placed(run, node, place if "device" in keywords else None)
    births = (_followed(run, node) or (_made(run, node),)) if place == CPU else machines.arrives(run, node, place)
    _note_leaf(run, births, keywords, node)
    return Tensor(place, births, scalar=name.endswith("scalar_tensor") or _has_no_dimensions(run, args, keywords))


def _default_of(run: Interpreter, name: str) -> Place:
    """Where a factory works that is told nothing: the old types name their device, whatever the default is.

    https://docs.pytorch.org/docs/stable/tensors.html
    """
    return CPU if name.endswith("Tensor") and not name.endswith(".Tensor") else run.default_place


def _followed(run: Interpreter, node: ast.Call) -> tuple[Birth, ...]:
    """The origins of ``x``, for what is made with ``device=x.device``: where that is, ``x`` has decided."""
    words = next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)
    if not (isinstance(words, ast.Attribute) and words.attr == "device" and isinstance(words.value, ast.Name)):
        return ()
    followed = run.evaluate(words.value)
    if not isinstance(followed, Tensor) or followed.place != CPU:
        return ()
    return tuple(birth for birth in followed.births if birth.kind in ("made", "batch", "moved"))


def _has_no_dimensions(run: Interpreter, args: list[Value], keywords: Keywords) -> bool:
    """``torch.zeros(())``."""
    shape = args[0] if args else keywords.get("size")
    if isinstance(shape, Ref):
        record = run.record(shape)
        return record.kind == "list" and not record.fields and record.rest is None
    return shape == TupleValue(())


def _note_leaf(run: Interpreter, births: tuple[Birth, ...], keywords: Keywords, node: ast.Call) -> None:
    """What is made with ``requires_grad=True`` is to be trained."""
    for birth in births:
        if keywords.get("requires_grad") == Const(True) and birth.key not in run.facts.leaves:
            run.facts.leaves[birth.key] = run.site(node, remember=True)


def _made(run: Interpreter, node: ast.Call) -> Birth:
    key = iteration.source_key(run, "made", node)
    copies.note_shape(run, key, node)
    return Birth("made", key)


def _from_data(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords)
    source = args[0] if args else keywords.get("data", UNKNOWN)
    if place is None:
        held = [option for option in options(source) if isinstance(option, Tensor)]
        place = held[0].place if held and not name.endswith("torch.tensor") else run.default_place
        if isinstance(source, Tensor):
            place = source.place
    scalar = not any(_has_dimensions(run, option) for option in options(source))
    machines.placed(run, node, place if "device" in keywords else None)
    births = (_made(run, node),) if place == CPU else machines.arrives(run, node, place)
    _note_leaf(run, births, keywords, node)
    return Tensor(place, births, scalar=scalar)


def _has_dimensions(run: Interpreter, value: Value) -> bool:
    """Whether data certainly has dimensions; what is not known may be a number."""
    if isinstance(value, Tensor):
        return not value.scalar
    if isinstance(value, Ref):
        record = run.record(value)
        return record.kind == "list" or bool(record.get("array"))
    return isinstance(value, (TupleValue, Yields)) or arrays.is_array(value)


def _from_cpu(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor):
        checkpoints.note_use(run, args[0], "array", node, False)
    return Tensor(CPU, (_made(run, node),))


def _normal(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    held = [value for value in args if isinstance(value, Tensor)]
    if held:
        generators.draw(run, keywords.get("generator"), held[0].place, "method", node)
    return Tensor(held[0].place) if held else _factory(run, name, args, keywords, node)


def _gradients(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``torch.autograd.grad(outputs, inputs, grad_outputs)``: the last lives with the first; gives one per input."""
    outputs = args[0] if args else keywords.get("outputs", UNKNOWN)
    given = args[2] if len(args) > 2 else keywords.get("grad_outputs", NONE)
    texts = {keyword.arg: text_of(keyword.value) for keyword in node.keywords}
    sides = [
        side
        for value, text in ((outputs, "…"), (given, texts.get("grad_outputs", "…")))
        for side in tensors_in(run, value, text)
    ]
    meet(run, node, "grad", sides)
    inputs = args[1] if len(args) > 1 else keywords.get("inputs", UNKNOWN)
    place = inputs.place if isinstance(inputs, Tensor) else ANYWHERE
    return TupleValue((Tensor(place),)) if isinstance(inputs, Tensor) else Yields(Tensor(place))


def _like(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = device_argument(run, keywords)
    source = args[0] if args else UNKNOWN
    if place is not None:
        machines.placed(run, node, place)
        return Tensor(place, machines.arrives(run, node, place) if place == ACCELERATOR else ())
    return union(
        Tensor(option.place, copies.note(run, option, node)) if isinstance(option, Tensor) else Tensor(ANYWHERE)
        for option in options(source)
    )


def _accelerator_factory(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    run.facts.accelerated = True
    machines.placed(run, node, ACCELERATOR)
    return Tensor(ACCELERATOR, machines.arrives(run, node, ACCELERATOR))


def _tensor_same(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return args[0] if args else UNKNOWN


def _is_tensor(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if args and isinstance(args[0], Tensor) and args[0].sure:
        return Const(True)
    if args and isinstance(args[0], (Text, Const, Number)):
        return Const(False)
    return UNKNOWN


def values_and_indices(tensor: Tensor) -> Value:
    """What ``max(dim)``, ``topk`` and ``sort`` give: a named pair, of which the indices have no gradient."""
    births = [tuple(Birth(b.kind, b.key, (*b.item, str(i))) for b in tensor.births) for i in range(2)]
    part = replace(tensor, loose=False, scalar=False, single=False)
    return TupleValue((replace(part, births=births[0]), replace(part, births=births[1], grad=False)))


def _pack(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value, expression in hosts.arguments(node, args, keywords)[:2]:
        if (value is args[1]) if len(args) > 1 else value is keywords.get("lengths"):
            hosts.note(run, node, name.split(".")[-1], value, expression, "lengths")
    first = args[0] if args else UNKNOWN
    return replace(first, loose=True) if isinstance(first, Tensor) else UNKNOWN


def _pad_packed(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    first = args[0] if args else UNKNOWN
    return TupleValue((first if isinstance(first, Tensor) else Tensor(ANYWHERE), Tensor(CPU)))


def _needs_cpu(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name.split(".")[-1][:1].isupper():  # an estimator, a figure: what its methods are given is read
        return run.new(Record("opaque", name, places=frozenset({ANYWHERE}), born=run.site(node)))
    for value, expression in hosts.arguments(node, args, keywords):
        hosts.note(run, node, name, value, expression)
    return arrays.given_by(name, args, keywords, node) or Unknown(f"{name}()")


def _reduces(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """NumPy's reductions hand a tensor on to its own method; only of a list do they make an array."""
    for value, expression in hosts.arguments(node, args, keywords):
        if not isinstance(value, Tensor):
            hosts.note(run, node, name, value, expression)
    return arrays.given_by(name, args, keywords, node) or Unknown(f"{name}()")


def _draws(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Matplotlib's drawing functions read their data, which comes first."""
    for value, expression in hosts.arguments(node, args, keywords)[:3]:
        hosts.note(run, node, name, value, expression)
    return Unknown(f"{name}()")


def _axes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    axes = run.new(Record("opaque", "matplotlib.axes.Axes", places=frozenset({ANYWHERE}), born=run.site(node)))
    return TupleValue((Unknown(), axes)) if name.endswith("subplots") else axes


def _needs_cpu_state(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    for value in args:
        for option in options(value):
            if isinstance(option, Tensor):
                checkpoints.note_use(run, option, "needs-cpu", node, False)
    return NONE


def _device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    value = args[0] if args else keywords.get("type", UNKNOWN)
    found = []
    for option in options(value):
        named = not isinstance(option, (Unknown, Text, Ref))
        place = place_of(run, option) if named else _told(run)  # whatever it is, the run was told to use it
        if place == ACCELERATOR and len(args) > 1:
            place = machines.index_place(run, args[1])
        found.append(DeviceValue(place if place is not None else ANYWHERE, symbol=getattr(option, "symbol", "")))
    return union(found)


def _told(run: Interpreter) -> Place:
    run.facts.named_devices = True
    return machines.without_accelerator(run)


def _accelerator_device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    return DeviceValue(CPU if run.elsewhere else ACCELERATOR)


def _default_device(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    place = place_of(run, args[0]) if args else None
    run.default_place = place or CPU
    return NONE


def _default_type(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    text = str(getattr(args[0], "value", getattr(args[0], "name", ""))) if args else ""
    run.default_place = ACCELERATOR if "cuda" in text else CPU
    return NONE


BEHAVIOURS: dict[str, Behaviour] = {
    "axes": _axes,
    "draws": _draws,
    "reduces": _reduces,
    "accelerator-device": _accelerator_device,
    "accelerator-factory": _accelerator_factory,
    "default-device": _default_device,
    "default-type": _default_type,
    "device": _device,
    "factory": _factory,
    "from-cpu": _from_cpu,
    "default-generator": generators.default,
    "generator": generators.make,
    "gradients": _gradients,
    "from-data": _from_data,
    "functional-init": _keeps_first,
    "is-tensor": _is_tensor,
    "keeps-first": _keeps_first,
    "keeps-list": _keeps_list,
    "like": _like,
    "meshgrid": _meshgrid,
    "mixes": _mixes,
    "needs-cpu": _needs_cpu,
    "needs-cpu-state": _needs_cpu_state,
    "normal": _normal,
    "pack": _pack,
    "pad-packed": _pad_packed,
    "pointwise": _pointwise,
    "tensor-same": _tensor_same,
}
