"""Methods of tensors: what moves them, what mixes them with others, and what they give."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.analysis import host_access, ineffective_moves, parameter_copies, scenarios
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    NONE,
    DType,
    Keywords,
    Number,
    Place,
    Tensor,
    TupleValue,
    Unknown,
    Value,
    options,
    union,
)
from devfix.analysis.move_observations import Transfer
from devfix.analysis.stdlib import containers
from devfix.analysis.torch import rng, tensor_functions
from devfix.analysis.transfer import external_calls
from devfix.analysis.transfer.device_arguments import MOVES, own_move, place_of, transfer_places, type_place
from devfix.analysis.transfer.device_check import meet, tensor_side, tensors_in
from devfix.models.tensor_methods import PAIRS, RANDOM_METHODS, REDUCTIONS, TENSOR_METHODS, UNDIFFERENTIABLE
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.interpreter import Interpreter

__all__ = ["tensor_method"]


_SAME_SIZE = frozenset(
    "detach clone contiguous float half double long int bool bfloat16 squeeze unsqueeze exp log log2 log10 sqrt abs "
    "neg sigmoid tanh round requires_grad_".split()
)
_GIVES_DIMENSIONS = frozenset("unsqueeze view reshape expand expand_as repeat tile flatten ravel".split())
_ONLY_OF_TENSORS = frozenset("view view_as unsqueeze permute expand expand_as".split())


def tensor_method(
    run: Interpreter, tensor: Tensor, name: str, args: list[Value], keywords: Keywords, node: ast.Call
) -> Value:
    """``tensor.name(...)``."""
    host_access.note_method(run, tensor, name, node)
    if tensor.loose and name in _ONLY_OF_TENSORS and all(birth.kind == "load" for birth in tensor.births):
        tensor = replace(tensor, loose=False, sure=True)  # an entry of a checkpoint that has a shape
    if name == "cuda":
        ineffective_moves.note_flag(run, args, node)
    if name == "to":
        return _transfer(run, tensor, transfer_places(run, args, keywords), node)
    if name in MOVES:
        return _transfer(run, tensor, [own_move(run, name, args, keywords)], node)
    if name == "type" and args:
        return _transfer(run, tensor, [type_place(option) for option in options(args[0])], node)
    if name == "type_as" and args:
        return _transfer(run, tensor, [place_of(run, args[0])], node)
    if "generator" in keywords and name in {*RANDOM_METHODS, "multinomial"}:
        rng.draw(run, keywords["generator"], tensor.place, "method", node)
    if name == "backward" and args:
        sides = [tensor_side(tensor, "…"), *tensors_in(run, args[0], text_of(node.args[0]) if node.args else "…")]
        meet(run, node, ".backward()", sides)
    if name == "retain_grad":
        ineffective_moves.note_leaf_use(run, tensor, "retained", node)
    if name in ("detach", "detach_"):
        tensor = ineffective_moves.detached(tensor)
    if name == "clone":
        parameter_copies.note(run, tensor, node)
    if name in ("backward", "zero_", "fill_", "retain_grad", "register_hook"):
        return tensor if name.endswith("_") else NONE
    if tensor.loose:
        held = containers.loose_method(run, tensor, name, args, node)
        if held is not None:
            return held
    kind = TENSOR_METHODS.get(name, "keeps")
    if kind == "number":
        return Number()
    if kind == "needs-cpu":
        return Unknown(f"numpy.{name}()")  # `_tensors` has noted it
    if name in PAIRS and not (args and isinstance(args[0], Tensor)):
        if args or keywords or name not in REDUCTIONS:
            return tensor_functions.values_and_indices(tensor)
    elif kind == "several" and (args or keywords or name not in REDUCTIONS):
        return replace(tensor, loose=True)
    if kind in ("mixes", "pointwise"):
        assert isinstance(node.func, ast.Attribute)
        sides = [tensor_side(tensor, text_of(node.func.value))]
        for value, text in zip(
            [*args, *keywords.values()], [text_of(argument) for argument in node.args] + ["…"] * 9, strict=False
        ):
            sides.extend(tensors_in(run, value, text))
        written = sides[0] if name.endswith("_") else None
        place, births = meet(run, node, f".{name}()", sides, scalars_are_free=kind == "pointwise", written=written)
        grad = name not in UNDIFFERENTIABLE and any(side.grad for side in sides)
        scalar = kind == "pointwise" and all(side.scalar for side in sides)
        return Tensor(place, births, scalar=scalar, grad=grad, single=scalar and all(side.single for side in sides))
    if name in UNDIFFERENTIABLE:
        tensor = replace(tensor, grad=False)
    if name in REDUCTIONS and not args and "dim" not in keywords:
        return replace(tensor, scalar=True, loose=False, single=True)
    if name.startswith("new_"):
        return Tensor(tensor.place)
    single = tensor.single and name in _SAME_SIZE
    return replace(tensor, scalar=tensor.scalar and not _gives_dimensions(name, args), single=single)


def _gives_dimensions(name: str, args: list[Value]) -> bool:
    """``total.reshape(1)``, but not ``reshape(())`` and ``view(dtype)``."""
    if name not in _GIVES_DIMENSIONS or (not args and name not in ("flatten", "ravel")):
        return False
    return args != [TupleValue(())] and not any(isinstance(value, DType) for value in args)


def _transfer(run: Interpreter, tensor: Tensor, places: list[Place | None], node: ast.Call) -> Value:
    results: list[Value] = []
    for place in places:
        if place is None:
            results.append(tensor)
            continue
        run.facts.accelerated |= place == ACCELERATOR
        scenarios.placed(run, node, place, tensor.place)
        for birth in tensor.births:
            if birth.kind in ("batch", "made") and tensor.place == CPU:
                run.facts.transfers.append(Transfer(birth, run.site(node, remember=True), node, place.kind))
            if birth.kind == "load":
                external_calls.note_load_use(run, tensor, "moved", node, place == ACCELERATOR)
        if place == tensor.place == CPU and all(birth.kind in ("batch", "made") for birth in tensor.births):
            results.append(replace(tensor, births=scenarios.arrives(run, node, CPU)))  # sent there on purpose
        elif place == tensor.place:
            results.append(tensor)
        elif place == CPU:
            results.append(replace(tensor, place=CPU, births=scenarios.arrives(run, node, CPU)))
        else:
            moved = replace(tensor, place=place, births=scenarios.arrives(run, node, place), sure=tensor.sure)
            results.append(ineffective_moves.move_leaf(run, tensor, moved, node) if place == ACCELERATOR else moved)
    return union(results)
