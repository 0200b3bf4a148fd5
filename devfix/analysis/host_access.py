"""Host accesses: operations that read CPU memory, such as NumPy functions and lengths of packed sequences."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING, TypeGuard

from devfix.analysis.callers.own_arguments import is_given_argument, is_own_argument
from devfix.analysis.callers.roles import Role, role
from devfix.analysis.domain.classes import is_module_class
from devfix.analysis.domain.objects import BatchPart, Container, Mapping, object_at
from devfix.analysis.domain.path_conditions import assumes_array
from devfix.analysis.domain.records import replace
from devfix.analysis.domain.values import (
    ACCELERATOR,
    Const,
    IterableOf,
    Number,
    Pointer,
    Tensor,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.observations import HostAccess
from devfix.analysis.transfer.conditions import is_switched_off
from devfix.syntax.tree import text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.objects import HeapObject
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["argument_pairs", "note_access", "note_loader"]

MOST_DEPTH = 3


def argument_pairs(node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> list[tuple[Value, ast.expr]]:
    """Return the arguments of a call as pairs of value and expression, without starred arguments."""
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args) and len(args) == len(node.args)
    pairs = list(zip(args, node.args, strict=True)) if plain else []
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    return [*pairs, *((value, named[key]) for key, value in keywords.items() if key in named)]


def note_access(
    interp: Interpreter,
    node: ast.AST,
    operation: str,
    value: Value,
    expression: ast.expr,
    kind: str = "array",
    may_be_number: bool = False,
) -> None:
    """Record that ``operation`` reads ``value`` on the host, if it is or holds an accelerator tensor on every path.

    ``may_be_number``: it is read together with what is a number on another path, so moving it alone repairs nothing.
    """
    if isinstance(expression, (ast.List, ast.Tuple)) and len(items := _items(interp, value)) == len(expression.elts):
        is_mixed = may_be_number or any(map(_is_tensor_or_number, items))
        for item, element in zip(items, expression.elts, strict=True):
            note_access(interp, node, operation, item, element, kind, is_mixed)
        return
    container = not isinstance(value, (Tensor, Union))
    if interp.activation is None:
        return
    key = (interp.activation.module.path, expression.lineno, expression.col_offset)
    if container and kind in ("lengths", "drawn"):
        _note_numbers(interp, key)
        return  # a list of Python numbers
    if kind == "lengths" and all(_is_output(each) for each in alternatives(value) if isinstance(each, Tensor)):
        return
    if _is_replaced(interp.activation.stmt, expression) and not interp.observations.is_new(HostAccess, *key):
        return  # each round of the loop reads another item, as it was before the loop
    if kind == "numpy":
        value = join(replace(each, is_certain=True) if _is_guess(each) else each for each in alternatives(value))
    tensors = tuple(dict.fromkeys(_accelerator_tensors(interp, value)))
    if not tensors or _runs_on_host(interp, expression, kind):
        return
    point = interp.point(node, with_state=True)
    read = alternatives(interp.element(value, node) if container else value)
    is_mixed = may_be_number or key in interp.observations.numbers_read or any(map(_is_number, read))
    interp.observations.host_accesses.setdefault(
        key,
        HostAccess(
            kind, point, operation, expression, tensors, container, interp.latent or is_switched_off(interp), is_mixed
        ),
    )


def _is_number(value: Value) -> bool:
    return isinstance(value, (Const, Number))


def _is_tensor_or_number(value: Value) -> bool:
    """Return whether a value is a tensor on the accelerator on one path, and a number on another one."""
    options = alternatives(value)
    is_tensor = any(isinstance(option, Tensor) and option.device == ACCELERATOR for option in options)
    return is_tensor and any(map(_is_number, options))


def _note_numbers(interp: Interpreter, key: tuple[str, int, int]) -> None:
    """Record that another call reads Python numbers in the same place, which have no methods of a tensor."""
    interp.observations.numbers_read.add(key)
    known = interp.observations.host_accesses.get(key)
    if known is not None:
        interp.observations.host_accesses[key] = replace(known, may_be_number=True)


def _is_replaced(statement: ast.stmt | None, expression: ast.expr) -> bool:
    """Return whether a statement replaces the item that it reads: ``d[key] = torch.tensor(np.asarray(d[key]))``."""
    if not isinstance(statement, ast.Assign) or not isinstance(expression, ast.Subscript):
        return False
    return any(text_of(target) == text_of(expression) for target in statement.targets)


def _runs_on_host(interp: Interpreter, expression: ast.expr, kind: str) -> bool:
    """Return whether any caller's function passes accelerator tensors to one that is made for data on the CPU.

    What ``forward`` gets is where its weights are, except for lengths that it passes on as they are: its callers
    already give it lengths that work.
    """
    if assumes_array(interp):
        return True  # in its branch for arrays, a function computes on the host
    activation = interp.activation
    function = activation.function if activation is not None else None
    if not interp.observations.is_library or activation is None or function is None:
        return False
    if isinstance(function.node, ast.Lambda):
        return False
    owner = function.owner.node if function.owner is not None else None
    tree = function.module.tree
    if role(function.node, owner, tree) is Role.HOST:
        return not _is_within_forward(interp)
    if kind == "lengths":
        return is_given_argument(expression, function.node, owner, tree)
    is_called_by_anyone = activation.parent is not None and activation.parent.function is None
    return (
        is_called_by_anyone
        and function.node.name != "forward"
        and is_own_argument(expression, function.node, owner, tree)
    )


def _is_within_forward(interp: Interpreter) -> bool:
    """Return whether ``forward`` of a module leads here: what it passes on is where its input is."""
    activation = interp.activation
    while activation is not None:
        function = activation.function
        if function is not None and function.owner is not None and getattr(function.node, "name", "") == "forward":
            return is_module_class(interp, function.owner)
        activation = activation.parent
    return False


def _items(interp: Interpreter, value: Value) -> list[Value]:
    """Return the values of a list or tuple display."""
    if isinstance(value, TupleValue):
        return list(value.items)
    return list(interp.heap_object(value).fields.values()) if isinstance(value, Pointer) else []


def _accelerator_tensors(interp: Interpreter, value: Value, depth: int = 0) -> list[Tensor]:
    """Return the tensors of a value if they are on the accelerator on every path."""
    match value:
        case Tensor(device=device):
            return [value] if device == ACCELERATOR and not _may_be_something_else(value) else []
        case Union(alternatives):
            is_library = interp.observations.is_library  # where a number or an array shows that the host computes
            kinds = (Tensor, Pointer, TupleValue, Unknown, *((Number,) if is_library else ()))
            relevant = [option for option in alternatives if isinstance(option, kinds)]
            graphs = [_graph_tensors(interp, option) for option in relevant]
            if all(graphs):
                return [tensor for tensors in graphs for tensor in tensors]
            is_certain = all(
                isinstance(option, Tensor) and option.device == ACCELERATOR and not _may_be_something_else(option)
                for option in relevant
            )
            return [option for option in relevant if isinstance(option, Tensor)] if is_certain else []
        case TupleValue(items):
            return [tensor for item in items for tensor in _accelerator_tensors(interp, item, depth + 1)]
        case IterableOf(element):
            return _accelerator_tensors(interp, element, depth + 1)
        case Pointer() if depth < MOST_DEPTH:
            sequence = object_at(interp, value, Container)
            if sequence is not None and not isinstance(sequence, Mapping):
                return [
                    tensor for item in sequence.contents for tensor in _accelerator_tensors(interp, item, depth + 1)
                ]
            return _graph_tensors(interp, value)
    return []


def _may_be_something_else(tensor: Tensor) -> bool:
    """Return whether what is read may be no tensor: an entry of a checkpoint may be a number, a guess anything."""
    return tensor.may_be_number or _is_guess(tensor)


def _is_output(value: Tensor) -> bool:
    """Return whether a value is a part of what an unknown module returned: as lengths, it is a list as often."""
    return value.maybe_container and not value.origins


def _is_guess(value: Value) -> TypeGuard[Tensor]:
    """Return whether nothing says that a value is a tensor, or where it was made: the NumPy function says otherwise.

    That a list keeps it says neither.  A method that only tensors have says that it is one.
    """
    return isinstance(value, Tensor) and not value.is_certain and all(origin.kind == "kept" for origin in value.origins)


def _graph_tensors(interp: Interpreter, value: Value) -> list[Tensor]:
    """Return what represents the tensors of a graph, if they are on the accelerator."""
    graph = object_at(interp, value, BatchPart)
    tensors = graph.default_item if graph is not None and not isinstance(graph, Container) else None
    return [tensors] if isinstance(tensors, Tensor) and tensors.device == ACCELERATOR else []


def note_loader(interp: Interpreter, loader: HeapObject, flags: Collection[str], sample: Value) -> None:
    """Record a loader whose samples are on the accelerator: they cannot be pinned, nor created in forked workers.

    ``flags`` are the arguments that ask for pinned memory and for workers.
    """
    entries = object_at(interp, sample, Mapping)
    entries = entries if entries is not None and entries.default_item is None else None
    values = entries.fields.values() if entries is not None else (sample,)
    tensors = tuple(dict.fromkeys(tensor for item in values for tensor in _accelerator_tensors(interp, item)))
    point = loader.allocated_at
    if not tensors or point is None or not isinstance(point.node, ast.Call):
        return
    named = {keyword.arg: keyword.value for keyword in point.node.keywords}
    for flag, kind in (("pin_memory", "pinned"), ("num_workers", "workers")):
        if flag in flags and flag in named:
            key = (point.tree.path, named[flag].lineno, named[flag].col_offset)
            use = HostAccess(
                kind,
                point,
                f"{flag}=",
                named[flag],
                tensors,
                latent=interp.latent or is_switched_off(interp),
                loader=loader,
                sample=entries or sample,
            )
            interp.observations.host_accesses.setdefault(key, use)
