"""Candidates for parameters, buffers and attributes of modules: move the module, or register its tensors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Applicability, ReplaceExpression, ReplaceStatement, Where
from devfix.syntax.tree import SourceTree
from devfix.trace.diagnosis.context import EXPLICIT_DEVICE
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.failure_trace import ModuleEvent, Owner, ValueEvent
from devfix.trace.repair.candidates._candidate import (
    Candidate,
    SourceLocation,
    append_move,
    hoist_out_of_loops,
    insert_statement,
    is_in_scope,
    locations_of,
    move_suffixes,
    redirect,
)
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["moves"]

_MAX_FRAMES = 4


def moves(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield candidates that move the module that stores the misplaced value, or the value it was computed from."""
    stored = next((event for event in diagnosis.misplaced.device_history() if event.owner is not None), None)
    if stored is None or stored.owner is None:
        return
    owner = stored.owner
    if owner.kind == "attribute":
        yield from _register_buffer(diagnosis, stored, owner, edited)
        return
    if owner.container is not None:
        yield from _register_modules(diagnosis, stored, owner, edited)
    last = owner.last_move
    if last is not None and last.device != "cpu":
        yield from _after_attachment(diagnosis, stored, owner, last, edited)
    if last is not None and last.device == "cpu":
        if diagnosis.cause.name in EXPLICIT_DEVICE:
            yield from _redirect_move(diagnosis, last, edited)
        yield from _move_back(diagnosis, last, edited)
    yield from _beside_a_sibling(diagnosis, stored, edited)
    yield from _at_construction(diagnosis, stored, edited)
    yield from _before_use(diagnosis, edited)


# --- attached after the move ----------------------------------------------------------------------------------------
def _after_attachment(
    diagnosis: Diagnosis, stored: ValueEvent, owner: Owner, last: ModuleEvent, edited: EditedSources
) -> Iterator[Candidate]:
    """Yield the module's move repeated after the last attachment, or a move of the new part at its attachment."""
    attached = [event for event in owner.all_events if event.kind == "attached" and event.index > last.index]
    move_locations = [
        SourceLocation(*found, position) for position in last.stack if (found := edited.node_at(position))
    ]
    for event in sorted(attached, key=lambda each: -each.index):
        for position in event.stack:
            found = edited.node_at(position)
            if found is None:
                continue
            location = SourceLocation(*found, position)
            for move in move_locations:
                code = _move_statement(move)
                if (
                    code is not None
                    and _same_function(move, location)
                    and is_in_scope(location, location.statement, code)
                ):
                    yield insert_statement(location, _last_attachment(location, attached, edited), Where.AFTER, code)
            yield from _move_new_part(diagnosis, location)


def _move_statement(move: SourceLocation) -> str | None:
    """Return the move, such as ``model.to(device)``, as a separate statement; None for other statements."""
    call, statement = move.node, move.statement
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if isinstance(statement, ast.Expr) and statement.value is call:
        return move.tree.source(statement)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = move.tree.source(statement.targets[0])
        receiver = call.func.value
        suffix = move.tree.source(call).removeprefix(move.tree.source(receiver))
        same = ast.unparse(receiver) == ast.unparse(statement.targets[0])
        return f"{target} = {target}{suffix}" if same else f"{target}{suffix}"
    return None


def _same_function(one: SourceLocation, other: SourceLocation) -> bool:
    return one.tree is other.tree and one.tree.function(one.node) is other.tree.function(other.node)


def _last_attachment(location: SourceLocation, attached: list[ModuleEvent], edited: EditedSources) -> ast.stmt:
    """Return the last statement of the block that attaches a part, outside of loops."""
    lines = {position.line for event in attached for position in event.stack if position.file == location.tree.path}
    statement = location.statement
    for parent in location.tree.ancestors(statement):
        if isinstance(parent, (ast.For, ast.While)):
            statement = parent
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            break
    _, block, index = location.tree.block(statement)
    later = [each for each in block[index:] if any(each.lineno <= n <= (each.end_lineno or 0) for n in lines)]
    return later[-1] if later else statement


def _move_new_part(diagnosis: Diagnosis, location: SourceLocation) -> Iterator[Candidate]:
    statement = location.statement
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        for suffix in move_suffixes(diagnosis, location, statement):
            yield append_move(location, statement.value, suffix, "the new part")
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and _function_name(node) in ("setattr", "add_module", "register_module"):
            for suffix in move_suffixes(diagnosis, location, statement):
                yield append_move(location, node.args[-1], suffix, "the new part")


def _function_name(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


# --- never moved ----------------------------------------------------------------------------------------------------
def _at_construction(diagnosis: Diagnosis, stored: ValueEvent, edited: EditedSources) -> Iterator[Candidate]:
    """Yield moves at the constructor calls; those outside of ``__init__`` come first: they create the root module."""
    locations = [
        _outermost_construction(location)
        for location in locations_of(stored, edited)
        if isinstance(location.node, ast.Call)
    ]
    outer = [
        location for location in locations if getattr(location.tree.function(location.node), "name", "") != "__init__"
    ]
    inner = [location for location in locations if location not in outer]
    for location in (*outer, *inner):
        node = location.node
        assert isinstance(node, ast.Call)
        if not location.value_is_used or isinstance(location.statement, ast.Return):
            continue
        if isinstance(location.statement, ast.Assign) and isinstance(location.statement.targets[0], ast.Tuple):
            continue
        for suffix in move_suffixes(diagnosis, location):
            yield append_move(location, node, suffix, "the module")
    for location in outer:
        if isinstance(location.statement, ast.Return) and isinstance(location.node, ast.expr):
            for suffix in move_suffixes(diagnosis, location):
                yield append_move(location, location.node, suffix, "the module")


def _outermost_construction(location: SourceLocation) -> SourceLocation:
    """Return the constructor call that takes this one as an argument: ``nn.Sequential(…)`` around ``nn.Linear(…)``."""
    child: ast.AST = location.node
    found = location.node
    for parent in location.tree.ancestors(location.node):
        if isinstance(parent, ast.Call) and child is not parent.func:
            if not _function_name(parent).lstrip("_")[:1].isupper():
                break
            found = parent
        elif not isinstance(parent, (ast.List, ast.Tuple, ast.Starred, ast.keyword)):
            break
        child = parent
    return SourceLocation(location.tree, found, location.position)


def _beside_a_sibling(diagnosis: Diagnosis, stored: ValueEvent, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the statement that moves another module, repeated for this one."""
    names = [target for location in locations_of(stored, edited) for target in _assigned_name(location)]
    for value in diagnosis.failure.values:
        for event in value.history:
            last = event.owner.last_move if event.owner is not None else None
            if last is None or last.device == "cpu" or value.device == diagnosis.misplaced.device:
                continue
            for position in last.stack:
                found = edited.node_at(position)
                move = SourceLocation(*found, position) if found is not None else None
                if move is None or not isinstance(move.statement, ast.Expr):
                    continue
                if not isinstance(move.node, ast.Call) or not isinstance(move.node.func, ast.Attribute):
                    continue
                receiver = move.tree.source(move.node.func.value)
                suffix = move.tree.source(move.node).removeprefix(receiver)
                for path, name in names:
                    if path == move.tree.path and is_in_scope(move, move.statement, name):
                        yield insert_statement(move, move.statement, Where.AFTER, f"{name}{suffix}")


def _assigned_name(location: SourceLocation) -> Iterator[tuple[str, str]]:
    statement = location.statement
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Name, ast.Attribute)):
        yield location.tree.path, location.tree.source(statement.targets[0])


# --- moved to the wrong device --------------------------------------------------------------------------------------
def _redirect_move(diagnosis: Diagnosis, move: ModuleEvent, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the accelerator as the destination of the move to the CPU."""
    for position in move.stack:
        found = edited.node_at(position)
        if found is not None:
            yield from redirect(diagnosis, SourceLocation(*found, position))


# --- moved move -----------------------------------------------------------------------------------------------------
def _move_back(diagnosis: Diagnosis, move: ModuleEvent, edited: EditedSources) -> Iterator[Candidate]:
    """Yield moves back after the move to the CPU, in the functions that the failure's stack shares with it."""
    for position in move.stack:
        found = edited.node_at(position)
        for number, frame in enumerate(diagnosis.failure.frames):
            if found is None or (frame.file, frame.function) != (position.file, position.function):
                continue
            location = SourceLocation(*found, position)
            for name in _module_names(diagnosis, number, move):
                for suffix in move_suffixes(diagnosis, location):
                    if is_in_scope(location, location.statement, name):
                        yield insert_statement(location, location.statement, Where.AFTER, f"{name}{suffix}")


def _before_use(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield moves before the failing statement, outside of loops, in the functions of the failure's stack."""
    for number, position in enumerate(diagnosis.failure.frames[:_MAX_FRAMES]):
        found = edited.node_at(position)
        if found is None:
            continue
        location = SourceLocation(*found, position)
        for name in _module_names(diagnosis, number):
            anchor = hoist_out_of_loops(location, name)
            for suffix in move_suffixes(diagnosis, location, anchor) if name != "self" else ():
                yield insert_statement(location, anchor, Where.BEFORE, f"{name}{suffix}")


def _module_names(diagnosis: Diagnosis, frame: int, moved: ModuleEvent | None = None) -> list[str]:
    """Return expressions of a frame for the root module that stores the value, or for the module that was moved."""
    found: dict[str, None] = {}
    for event in diagnosis.misplaced.device_history():
        owner = event.owner
        for name in event.names if owner is not None else ():
            if owner is not None and name.frame == frame and name.text.endswith(f".{owner.attribute}"):
                levels = _module_expressions(name.text, owner)
                chosen = [text for text, events in levels if moved is None or moved in events]
                found.update(dict.fromkeys(chosen[-1:]))
    return list(found)


def _module_expressions(name: str, owner: Owner) -> list[tuple[str, tuple[ModuleEvent, ...]]]:
    """Return the module that stores a tensor and the modules around it, as expressions with their events."""
    parts = re.findall(r"[^.\[]+|\[[^\]]*\]", name)
    found = []
    for steps, events in ((0, owner.events), *((each.path.count(".") + 1, each.events) for each in owner.enclosing)):
        prefix = parts[: len(parts) - 1 - steps]
        if prefix:
            text = "".join(part if part.startswith("[") or n == 0 else f".{part}" for n, part in enumerate(prefix))
            found.append((text, events))
    return found


# --- stored, but not registered -------------------------------------------------------------------------------------
def _register_buffer(
    diagnosis: Diagnosis, stored: ValueEvent, owner: Owner, edited: EditedSources
) -> Iterator[Candidate]:
    """Yield ``self.register_buffer(…, persistent=False)``: the module moves it, and the state dict stays the same."""
    for tree, cls in _classes(diagnosis, stored, owner.type, edited):
        for statement in ast.walk(cls):
            if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[-1]) != f"self.{owner.attribute}":
                continue
            if len(statement.targets) > 1 or isinstance(tree.function(statement), ast.Lambda):
                continue
            value = tree.source(statement.value)
            code = f'self.register_buffer("{owner.attribute}", {value}, persistent=False)'
            if getattr(tree.function(statement), "name", "") == "__init__":
                edit = ReplaceStatement(tree.path, tree.span(statement), (code,))
                yield Candidate(f"register `{owner.attribute}` as a buffer", (edit,))
            else:
                location = SourceLocation(tree, statement.value, diagnosis.where)
                for suffix in move_suffixes(diagnosis, location, statement):
                    yield append_move(location, statement.value, suffix, f"`{owner.attribute}`")


def _classes(
    diagnosis: Diagnosis, stored: ValueEvent, name: str, edited: EditedSources
) -> Iterator[tuple[SourceTree, ast.ClassDef]]:
    """Yield the classes with a name in the files of the failure."""
    known = [*diagnosis.failure.frames, *stored.stack]
    for path in dict.fromkeys(position.file for position in known):
        tree = edited.tree(path)
        for cls in ast.walk(tree.tree) if tree is not None else ():
            if tree is not None and isinstance(cls, ast.ClassDef) and cls.name == name:
                yield tree, cls


def _register_modules(
    diagnosis: Diagnosis, stored: ValueEvent, owner: Owner, edited: EditedSources
) -> Iterator[Candidate]:
    """Yield ``nn.ModuleList`` or ``nn.ModuleDict`` around the container of modules."""
    assert owner.container is not None
    holder, attribute, kind = owner.container
    for tree, cls in _classes(diagnosis, stored, holder, edited):
        yield from _wrap_container(tree, cls, attribute, kind == "dict")


def _wrap_container(tree: SourceTree, cls: ast.ClassDef, attribute: str, mapping: bool) -> Iterator[Candidate]:
    from devfix.fixes.modules.registered_containers import registered_container

    prefix = _nn_prefix(tree)
    kind = "nn.ModuleDict" if mapping else "nn.ModuleList"
    for node in ast.walk(cls):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None or prefix is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        code = (
            registered_container(tree, node.value, mapping, prefix)
            if ast.unparse(target) == f"self.{attribute}"
            else None
        )
        if code is not None:
            edit = ReplaceExpression(tree.path, tree.span(node.value), code)
            yield Candidate(
                f"register `{attribute}`: `{kind}`", (edit,), Applicability.UNSAFE
            )  # the keys of the state dict change


def _nn_prefix(tree: SourceTree) -> str | None:
    """Return the file's prefix for ``torch.nn``, such as ``nn.``; None if it is not imported."""
    found = []
    for node in ast.walk(tree.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch":
                    found.append(f"{alias.asname or 'torch'}.nn.")
                elif alias.name == "torch.nn":
                    found.append(f"{alias.asname or 'torch.nn'}.")
        elif isinstance(node, ast.ImportFrom) and node.module == "torch":
            found += [f"{alias.asname or 'nn'}." for alias in node.names if alias.name == "nn"]
    return min(found, key=len, default=None)
