"""Which words name the accelerator where a tensor is made: the device at hand, or that of a tensor it will meet."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from devfix.analysis import Observations
from devfix.analysis.domain.classes import externals
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, Pointer, Tensor, Value, alternatives
from devfix.analysis.scopes import device_expressions, is_device, is_far, serves, value_of, visible
from devfix.fixes.insertion_point import inside_module
from devfix.models.frameworks import PLACED_TRAINERS
from devfix.models.index import model_of
from devfix.syntax.tree import text_of, walk

__all__ = [
    "binds",
    "bound_before",
    "device_for",
    "device_of_a_module",
    "operand_at",
    "parameters_device",
    "said_here",
    "weight_places",
    "written_in",
]


def device_for(
    observations: Observations,
    point: ProgramPoint,
    call_frame: CallFrame,
    partners: Iterable[str] = (),
    outside: bool = True,
    fits: Callable[[str], bool] = lambda _: True,
) -> str | None:
    """An expression for the accelerator at ``level``, best first; ``None`` where nothing names it.

    A device that the function uses or names itself, then ``x.device`` of an operand, then the object's own device or
    that of its parameters, then (``outside``) any other device that is live there, or that of a module's parameters.
    ``partners`` are the texts of what the value will meet; ``fits`` refuses expressions of a device, operands and
    modules.
    """
    named = [
        text
        for text in device_expressions(point, call_frame, observations.preferred_device)
        if _bound(call_frame, text) and fits(text)
    ]
    if observations.preferred_device in named:
        return observations.preferred_device
    function = call_frame.activation.node
    used = _used_in(function) | (set() if isinstance(function, ast.Module) else written_in(function))
    for text in named:
        if text in used:
            return text
    own = [text for text in named if text.startswith("self.")]
    if own and _placed_by_framework(call_frame):
        return own[0]
    said = said_here(observations, point, call_frame, fits)
    if said is not None:
        return said
    operand = operand_at(point, call_frame, partners, fits)
    if operand is not None:
        return f"{operand}.device"
    if own:
        return own[0]
    words = parameters_device(point, call_frame) if fits("self") else None
    if words is None and outside:
        words = named[0] if named else device_of_a_module(point, call_frame, fits)
    return words


def _placed_by_framework(call_frame: CallFrame) -> bool:
    """Whether a level runs a method of a class whose framework gives it a device: ``self.device`` of Lightning."""
    function = call_frame.activation.function
    owner = function.owner if function is not None else None
    names = externals(owner) if owner is not None else []
    return any(model_of(name) == "placed-module" or name.startswith(PLACED_TRAINERS) for name in names)


def said_here(
    observations: Observations, point: ProgramPoint, call_frame: CallFrame, fits: Callable[[str], bool] = lambda _: True
) -> str | None:
    """What a move in the same function says, where that is a device here, too: ``config["device"]``."""
    function = call_frame.activation.node
    moves = [
        *observations.moves,
        *(transfer.point for transfer in observations.transfers if transfer.device == ACCELERATOR.kind),
    ]
    for move in moves:
        call = move.node
        if move.call_frame.activation.node is not function or not isinstance(call, ast.Call) or not call.args:
            continue
        value, text = value_of(point, call_frame, call.args[0]), ast.unparse(call.args[0])
        if not (is_device("device", value) if value is not None else _is_settled(call.args[0], call_frame, call)):
            continue
        if not _bound(call_frame, text) or not fits(text):
            continue
        if serves(point, call_frame, text):
            return move.tree.source(call.args[0])
    return None


def _is_settled(node: ast.expr, call_frame: CallFrame, call: ast.Call) -> bool:
    """Whether an expression of unknown value, which ``call`` moves to, is an entry that nothing changes after that."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    text, first = ast.unparse(node), min(call.lineno, call_frame.stmt.lineno)
    changed = [
        inner
        for inner in ast.walk(call_frame.activation.node)
        if isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(inner.ctx, ast.Load)
    ]
    late = [ast.unparse(inner) for inner in changed if inner.lineno >= first]
    return _root_or_none(node.value) is not None and not any(text.startswith(f"{one}[") or text == one for one in late)


def operand_at(
    point: ProgramPoint,
    call_frame: CallFrame,
    partners: Iterable[str] = (),
    fits: Callable[[str], bool] = lambda _: True,
) -> str | None:
    """A name that is certainly one tensor on the accelerator at this moment, and bound on every path to it.

    Parameters of the function come first, and among them, as among its other names, what the value will meet
    (``partners``), then what the made value is shaped by.
    """
    given = set(_parameters(call_frame.activation.node))
    for node in sorted(_candidates(point, call_frame, partners), key=lambda node: _root(node) not in given):
        value = value_of(point, call_frame, node)
        there = value is not None and (
            _is_there(value) or (_is_there(value, maybe_container=True) and _has_a_shape(call_frame, node))
        )
        if there and bound_before(call_frame, _root(node)) and fits(ast.unparse(node)):
            return ast.unparse(node)
    return None


def _has_a_shape(call_frame: CallFrame, node: ast.expr) -> bool:
    """Whether the function asks a value for its shape, as it can ask a tensor and no tuple of them."""
    text = ast.unparse(node)
    return any(
        isinstance(inner, ast.Attribute)
        and inner.attr in ("shape", "size", "ndim")
        and ast.unparse(inner.value) == text
        for inner in ast.walk(call_frame.activation.node)
    )


def parameters_device(point: ProgramPoint, call_frame: CallFrame) -> str | None:
    """``next(self.parameters()).device`` in a method of a module all of whose weights are on the accelerator."""
    if not inside_module(call_frame):
        return None
    own = visible(point, call_frame).get("self")
    if not isinstance(own, Pointer) or point.state is None:
        return None
    devices = set(weight_places(point, own, set()))
    return "next(self.parameters()).device" if devices == {ACCELERATOR} else None


def device_of_a_module(
    point: ProgramPoint, call_frame: CallFrame, fits: Callable[[str], bool] = lambda _: True
) -> str | None:
    """``next(model.parameters()).device``, for a module on the accelerator that has a name at this level."""
    for name, value in visible(point, call_frame).items():
        there = isinstance(value, Pointer) and set(weight_places(point, value, set())) == {ACCELERATOR}
        if there and _bound(call_frame, name) and fits(name) and not is_far(point, call_frame, name):
            return f"next({name}.parameters()).device"
    return None


def weight_places(point: ProgramPoint, ref: Pointer, seen: set[int]) -> Iterator[object]:
    """The places of the weights of a module and all that it holds; ``seen`` are those that were looked at."""
    assert point.state is not None
    if ref.id in seen:
        return
    seen.add(ref.id)
    obj = point.state.heap_object(ref)
    if obj.kind != "module":
        return
    if obj.weights:
        yield from obj.devices
    for value in [*obj.fields.values(), *([obj.default_item] if obj.default_item is not None else [])]:
        for option in alternatives(value):
            if isinstance(option, Pointer):
                yield from weight_places(point, option, seen)


def _is_there(value: Value, maybe_container: bool = False) -> bool:
    """Whether a value is a tensor on the accelerator; ``maybe_container``: or may hold several of them."""
    return all(
        isinstance(option, Tensor)
        and option.device == ACCELERATOR
        and option.is_certain
        and (maybe_container or not option.maybe_container)
        for option in alternatives(value)
    )


# --- candidates -----------------------------------------------------------------------------------------------------
def _candidates(point: ProgramPoint, call_frame: CallFrame, partners: Iterable[str]) -> Iterator[ast.expr]:
    for text in partners:
        try:
            yield from _chains(ast.parse(text, mode="eval").body)
        except SyntaxError:
            continue
    if call_frame is point.call_frame:
        yield from _chains(point.node)
    assert point.state is not None
    local = point.state.names(call_frame.activation.env)
    given = _parameters(call_frame.activation.node)
    names = [*(name for name in given if name in local), *(name for name in local if name not in given)]
    if isinstance(call_frame.activation.node, ast.Module):
        names = []  # every name of the program: none of them is nearer than another
    for name in names:
        yield ast.Name(name, ast.Load())


def _chains(node: ast.AST) -> Iterator[ast.expr]:
    """The names, and attributes of names, that an expression reads; longest first, from left to right."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Attribute) and _root_or_none(node) is not None:
        yield node
        yield from _chains(node.value)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _chains(child)


def _root_or_none(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _root(node: ast.expr) -> str:
    return _root_or_none(node) or ""


def _parameters(function: ast.AST) -> list[str]:
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return []
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


# --- names ----------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=8)
def _used_in(function: ast.AST) -> frozenset[str]:
    """The names and attribute chains that a function reads, and its parameters."""
    found = set(_parameters(function))
    for node in walk(function):
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        if _root_or_none(node) is not None:
            found.add(text_of(node))
    return frozenset(found)


def _bound(call_frame: CallFrame, text: str) -> bool:
    root = text.split(".")[0].split("[")[0]
    return root not in written_in(call_frame.activation.node) or bound_before(call_frame, root)


def bound_before(call_frame: CallFrame, name: str) -> bool:
    """Whether a name has a value on every path to the level's statement: a parameter, or assigned ahead of it.

    A name that the function does not bind itself comes from outside, and was there when the flow looked.
    """
    function = call_frame.activation.node
    if name in _parameters(function) or name not in written_in(function):
        return True
    statement: ast.AST = call_frame.stmt
    while statement is not function and statement in call_frame.tree.parents:
        owner = call_frame.tree.parents[statement]
        for block in _blocks(owner):
            if any(item is statement for item in block):
                ahead = block[: next(i for i, item in enumerate(block) if item is statement)]
                if any(binds(item, name) for item in ahead):
                    return True
        if isinstance(owner, (ast.For, ast.AsyncFor)) and statement in owner.body and _stores(owner.target, name):
            return True
        if isinstance(owner, (ast.With, ast.AsyncWith)) and _header_stores(owner, name):
            return True
        statement = owner
    return False


def _blocks(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(owner, field, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(owner, "handlers", ()), *getattr(owner, "cases", ())):
        yield part.body


def binds(statement: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name on every path that leaves it."""
    if isinstance(statement, ast.If):
        return all(_leaves(block) or any(binds(item, name) for item in block) for block in _sides(statement))
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _header_stores(statement, name) or any(binds(item, name) for item in statement.body)
    if isinstance(statement, ast.Try):
        ends = [statement.body, *(handler.body for handler in statement.handlers)]
        return all(_leaves(block) or any(binds(item, name) for item in block) for block in ends)
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.Match)):
        return False
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name == name
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return any((alias.asname or alias.name.split(".")[0]) == name for alias in statement.names)
    return _stores(statement, name)


def _sides(statement: ast.If) -> tuple[list[ast.stmt], list[ast.stmt]]:
    return statement.body, statement.orelse


def _leaves(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _header_stores(statement: ast.With | ast.AsyncWith, name: str) -> bool:
    return any(item.optional_vars is not None and _stores(item.optional_vars, name) for item in statement.items)


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Store)
        for inner in ast.walk(node)
    )


@lru_cache(maxsize=8)  # findings of one function come together, and each asks several times
def written_in(function: ast.AST) -> frozenset[str]:
    """The names that a function (or module body) binds itself."""
    found: set[str] = set()
    stack: list[ast.AST] = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        stack.extend(ast.iter_child_nodes(node))
    return frozenset(found)
