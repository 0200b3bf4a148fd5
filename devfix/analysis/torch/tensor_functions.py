"""Functions outside the project that take tensors, one small function per behaviour of the knowledge table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import host_access, random_branches
from devfix.analysis.domain.values import (
    ANYWHERE,
    CPU,
    NONE,
    UNKNOWN,
    Birth,
    Const,
    Keywords,
    Number,
    Record,
    Ref,
    Tensor,
    Text,
    TupleValue,
    Unknown,
    Value,
    Yields,
    options,
)
from devfix.analysis.stdlib import numpy_
from devfix.analysis.torch import checkpoints
from devfix.analysis.transfer import iteration
from devfix.analysis.transfer.device_check import Side, meet, tensors_in
from devfix.models.tensor_methods import MEAN_LOSSES, PAIRS, REDUCTIONS, UNDIFFERENTIABLE
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["BEHAVIOURS", "Behaviour", "values_and_indices"]

Behaviour = Callable[["Interpreter", str, list[Value], Keywords, ast.Call], Value]


def _sides(run: Interpreter, args: list[Value], keywords: Keywords, node: ast.Call) -> list[Side]:
    texts = [text_of(argument) for argument in node.args] + ["…"] * len(args)
    named = {keyword.arg: text_of(keyword.value) for keyword in node.keywords}
    pairs = [
        *zip(args, texts, strict=False),
        *((value, named.get(key, key)) for key, value in keywords.items() if key != "out"),
    ]
    return [side for value, text in pairs for side in tensors_in(run, value, text)]


_JOINS = frozenset("cat concat concatenate stack hstack vstack dstack".split())


def _mixes(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    sides = _sides(run, args, keywords, node)
    if name.split(".")[-1] in _JOINS:
        sides = random_branches.told_apart(run, sides)
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
    for value, expression in host_access.arguments(node, args, keywords)[:2]:
        if (value is args[1]) if len(args) > 1 else value is keywords.get("lengths"):
            host_access.note(run, node, name.split(".")[-1], value, expression, "lengths")
    first = args[0] if args else UNKNOWN
    return replace(first, loose=True) if isinstance(first, Tensor) else UNKNOWN


def _pad_packed(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    first = args[0] if args else UNKNOWN
    return TupleValue((first if isinstance(first, Tensor) else Tensor(ANYWHERE), Tensor(CPU)))


def _needs_cpu(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    if name.split(".")[-1][:1].isupper():  # an estimator, a figure: what its methods are given is read
        return run.new(Record("opaque", name, places=frozenset({ANYWHERE}), born=run.site(node)))
    for value, expression in host_access.arguments(node, args, keywords):
        host_access.note(run, node, name, value, expression)
    return numpy_.given_by(name, args, keywords, node) or Unknown(f"{name}()")


def _reduces(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """NumPy's reductions hand a tensor on to its own method; only of a list do they make an array."""
    for value, expression in host_access.arguments(node, args, keywords):
        if not isinstance(value, Tensor):
            host_access.note(run, node, name, value, expression)
    return numpy_.given_by(name, args, keywords, node) or Unknown(f"{name}()")


def _draws(run: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """Matplotlib's drawing functions read their data, which comes first."""
    for value, expression in host_access.arguments(node, args, keywords)[:3]:
        host_access.note(run, node, name, value, expression)
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


BEHAVIOURS: dict[str, Behaviour] = {
    "axes": _axes,
    "draws": _draws,
    "functional-init": _keeps_first,
    "gradients": _gradients,
    "is-tensor": _is_tensor,
    "keeps-first": _keeps_first,
    "keeps-list": _keeps_list,
    "meshgrid": _meshgrid,
    "mixes": _mixes,
    "needs-cpu": _needs_cpu,
    "needs-cpu-state": _needs_cpu_state,
    "pack": _pack,
    "pad-packed": _pad_packed,
    "pointwise": _pointwise,
    "reduces": _reduces,
    "tensor-same": _tensor_same,
}
