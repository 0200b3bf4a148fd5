"""Candidates for misplaced tensors: beside other moves, at the origin, at an assignment, or at the use."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from devfix.model import AppendCode, ReplaceExpression, ReplaceStatement, Where
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._around import (
    LOOPS,
    MAX_FRAMES,
    assignable_names,
    binding_loop,
    comes_from_loader,
    moves_before,
)
from devfix.trace.repair.candidates._candidate import (
    Candidate,
    SourceLocation,
    append_move,
    can_bind,
    create_on_device_or_move,
    insert_statement,
    is_in_scope,
    locations_of,
    move_suffixes,
    names_in_frame,
    redirect,
)
from devfix.trace.repair.candidates.containers import container_moves, list_of_dict_moves
from devfix.trace.repair.edited_sources import EditedSources

__all__ = ["at_uses", "moves", "undo_move"]

_MAX_ORIGINS = 5


def moves(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield candidates that move the misplaced value to the accelerator."""
    yield from _use_copy(diagnosis, edited)
    yield from _redirect_moves(diagnosis, edited)
    if comes_from_loader(diagnosis, edited):
        yield from list_of_dict_moves(diagnosis, edited)
        yield from _beside_siblings(diagnosis, edited)
        yield from container_moves(diagnosis, edited, sequences_only=True)
        yield from _at_assignment(diagnosis, edited, outermost_first=True)
        yield from _at_load(diagnosis, edited)
        yield from _at_origins(diagnosis, edited)
    else:
        yield from _at_load(diagnosis, edited)
        yield from _at_origins(diagnosis, edited)
        yield from _beside_siblings(diagnosis, edited)
    yield from at_uses(diagnosis, edited)
    yield from _at_assignment(diagnosis, edited)
    yield from container_moves(diagnosis, edited)
    if diagnosis.package is not None:
        yield from _copy_arguments_to_cpu(diagnosis, edited)


# --- moved to the wrong device --------------------------------------------------------------------------------------
def _redirect_moves(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the accelerator as the device of transfers and factories on the CPU."""
    for event in diagnosis.misplaced.device_history():
        for location in locations_of(event, edited) if event.kind in ("moved", "created") else ():
            yield from redirect(diagnosis, _chained_move(location) or location)


def _chained_move(location: SourceLocation) -> SourceLocation | None:
    """Return the transfer chained to a factory call, which left the tensor on the CPU."""
    method = location.tree.parents.get(location.node)
    call = location.tree.parents.get(method) if isinstance(method, ast.Attribute) else None
    if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute) or method.attr not in ("to", "cpu"):
        return None
    return SourceLocation(location.tree, call, location.position)


# --- a copy of it is on the accelerator -----------------------------------------------------------------------------
def _use_copy(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the use of a copy under its name, and the assignment of a discarded copy to the tensor's own name."""
    for event in diagnosis.misplaced.device_history():
        copy = event.copy
        if copy is None or diagnosis.peer is None or copy.device != diagnosis.peer.device or copy.by_module:
            continue
        for position in copy.stack[:1]:
            found = edited.node_at(position)
            if found is None or not isinstance(found[1], ast.Call) or not isinstance(found[1].func, ast.Attribute):
                continue
            location = SourceLocation(*found, position)
            statement, receiver = location.statement, location.tree.source(found[1].func.value)
            if isinstance(statement, ast.Expr) and statement.value is location.node:
                code = f"{receiver} = {location.tree.source(statement)}"
                edit = ReplaceStatement(location.tree.path, location.tree.span(statement), (code,))
                yield Candidate(f"assign the result: `{code}`", (edit,))
            yield from _use_new_name(diagnosis, edited, location)


def _use_new_name(diagnosis: Diagnosis, edited: EditedSources, copy_location: SourceLocation) -> Iterator[Candidate]:
    name = _bound_to(copy_location)
    for number, position in enumerate(diagnosis.failure.frames[:MAX_FRAMES]):
        found = edited.node_at(position)
        if name is None or found is None or found[0] is not copy_location.tree:
            continue
        location = SourceLocation(*found, position)
        if location.tree.function(location.node) is copy_location.tree.function(copy_location.node):
            for operand in _operands(diagnosis, location, number):
                if location.tree.source(operand) != name:
                    edit = ReplaceExpression(location.tree.path, location.tree.span(operand), name)
                    yield Candidate(f"use the copy `{name}`", (edit,))


def _bound_to(location: SourceLocation) -> str | None:
    """Return the name that a statement binds to an expression in it."""
    statement = location.statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    else:
        pairs = [(target, value)]
    return next((location.tree.source(name) for name, bound in pairs if bound is location.node), None)


# --- beside other moves ---------------------------------------------------------------------------------------------
def _beside_siblings(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the statement that moves another value, repeated for the misplaced one, after the last such statement."""
    for number in reversed(range(min(len(diagnosis.failure.frames), MAX_FRAMES))):
        position = diagnosis.failure.frames[number]
        found = edited.node_at(position)
        names = assignable_names(diagnosis.misplaced, number)
        if found is None or not names:
            continue
        location = SourceLocation(*found, position)
        for statement, suffix in moves_before(location):
            for name in names:
                if is_in_scope(location, statement, name) and can_bind(location, statement, name):
                    yield insert_statement(location, statement, Where.AFTER, f"{name} = {name}{suffix}")


# --- at an assignment -----------------------------------------------------------------------------------------------
def _at_assignment(diagnosis: Diagnosis, edited: EditedSources, outermost_first: bool = False) -> Iterator[Candidate]:
    """Yield ``x = x.to(device)`` first in the loop that binds it, else before the failing statement."""
    frames = list(enumerate(diagnosis.failure.frames[:MAX_FRAMES]))
    for number, position in reversed(frames) if outermost_first else frames:
        found = edited.node_at(position)
        if found is None:
            continue
        location = SourceLocation(*found, position)
        for name in assignable_names(diagnosis.misplaced, number):
            for suffix in move_suffixes(diagnosis, location) if can_bind(location, location.node, name) else ():
                code = f"{name} = {name}{suffix}"
                loop = binding_loop(location, name)
                if loop is not None:
                    yield insert_statement(location, loop, Where.BODY_START, code)
                yield insert_statement(location, location.statement, Where.BEFORE, code)


def _copy_arguments_to_cpu(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield CPU copies of the arguments of a package's function that uses its own CPU tensors."""
    for position in diagnosis.failure.frames[:MAX_FRAMES]:
        found = edited.node_at(position)
        call = found[1] if found is not None else None
        if found is None or not isinstance(call, ast.Call):
            continue
        location = SourceLocation(*found, position)
        arguments = [each for each in call.args if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript))]
        edits = [AppendCode(location.tree.path, location.tree.span(each), ".cpu()") for each in arguments]
        if edits:
            text = ", ".join(f"{location.tree.source(each)}.cpu()" for each in arguments)
            yield Candidate(f"pass `{text}`", tuple(edits))


# --- at the origin --------------------------------------------------------------------------------------------------
def _at_load(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield ``map_location=`` for loads."""
    from devfix.model import AddKeyword

    for event in diagnosis.misplaced.device_history():
        if event.kind != "loaded":
            continue
        for location in locations_of(event, edited):
            call = location.node
            if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith("load"):
                continue
            keyword = next((each for each in call.keywords if each.arg == "map_location"), None)
            for suffix in move_suffixes(diagnosis, location):
                if not suffix.startswith(".to("):
                    continue
                device = suffix[len(".to(") : -1]
                path = location.tree.path
                edit = (
                    AddKeyword(path, location.tree.span(call), "map_location", device)
                    if keyword is None
                    else ReplaceExpression(path, location.tree.span(keyword.value), device)
                )
                yield Candidate(f"load to `{device}`", (edit,))


def _at_origins(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield moves at the creating events, the oldest first; then at the calls that returned the value."""
    active = {(frame.file, frame.function) for frame in diagnosis.failure.frames}
    inner: list[SourceLocation] = []
    outer: list[SourceLocation] = []
    for event in diagnosis.misplaced.device_history():
        locations = list(locations_of(event, edited))
        if event.kind == "moved" or event.from_loader:
            continue
        if any(location.in_loader or isinstance(location.node, LOOPS) for location in locations):
            continue
        inner += [location for location in locations[:1] if not _is_constructor(location)]
        for inner_location, caller in itertools.pairwise(locations):
            if (inner_location.position.file, inner_location.position.function) in active:
                break
            if not _is_unpacked(caller) and not _is_constructor(caller):
                outer.append(caller)
    for location in (*inner[:_MAX_ORIGINS], *outer[:_MAX_ORIGINS]):
        if location.value_is_used:
            for suffix in move_suffixes(diagnosis, location):
                candidate = create_on_device_or_move(location, suffix, _quoted_name(diagnosis))
                if candidate is not None:
                    yield candidate


def _is_unpacked(location: SourceLocation) -> bool:
    """Return whether the result of the call is unpacked, and so is not a tensor."""
    statement = location.statement
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Tuple, ast.List))


def _is_constructor(location: SourceLocation) -> bool:
    """Return whether the call creates an object other than a tensor, according to its name."""
    if not isinstance(location.node, ast.Call):
        return False
    name = ast.unparse(location.node.func).split(".")[-1].lstrip("_")
    return name[:1].isupper() and not name.endswith(("Tensor", "Variable"))


def _quoted_name(diagnosis: Diagnosis) -> str:
    return f"`{diagnosis.name}`"


# --- at the use -----------------------------------------------------------------------------------------------------
def at_uses(
    diagnosis: Diagnosis, edited: EditedSources, suffixes: tuple[str, ...] | None = None
) -> Iterator[Candidate]:
    """Yield moves of the operand in the failing call, and in the calls that lead to it.

    Args:
        diagnosis: the failure.
        edited: the program.
        suffixes: code to append; default: moves to the accelerator.

    """
    for number, position in enumerate(diagnosis.failure.frames[:MAX_FRAMES]):
        found = edited.node_at(position)
        if found is None:
            continue
        location = SourceLocation(*found, position)
        for operand in _operands(diagnosis, location, number):
            for suffix in suffixes or move_suffixes(diagnosis, location, operand):
                yield append_move(location, operand, suffix, _quoted_name(diagnosis))


def _operands(diagnosis: Diagnosis, location: SourceLocation, frame: int) -> Iterator[ast.expr]:
    """Yield the expressions for the misplaced value in the failing one: by its names, else by its creating event."""
    names = [name.text for name in names_in_frame(diagnosis.misplaced, frame)]
    nodes = [each for each in ast.walk(location.node) if isinstance(each, ast.expr) and _is_read(each)]
    sources = [(ast.unparse(each), each) for each in nodes]
    for name in names:
        normalized = _normalized(name)
        yield from (each for source, each in sources if source == normalized)
    if frame == 0 and diagnosis.misplaced.last is not None:
        span = diagnosis.misplaced.last.position.span if diagnosis.misplaced.last.position else None
        if span is not None:
            yield from (
                each
                for each in nodes
                if each is not location.node
                and (each.lineno, each.col_offset, each.end_lineno, each.end_col_offset) == span
            )


def _is_read(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _normalized(text: str) -> str:
    try:
        return ast.unparse(ast.parse(text, mode="eval"))
    except SyntaxError:
        return text


# --- a stray one on the accelerator ---------------------------------------------------------------------------------
def undo_move(diagnosis: Diagnosis, edited: EditedSources) -> Iterator[Candidate]:
    """Yield the removal or redirection of the move that took the value away from a program on the CPU."""
    for event in diagnosis.misplaced.history:
        if event.kind != "moved":
            continue
        for location in locations_of(event, edited):
            call = location.node
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
                span = location.tree.span(call)
                source = location.tree.source(call.func.value)
                yield Candidate(f"do not move `{source}`", (ReplaceExpression(location.tree.path, span, source),))
    assert diagnosis.peer is not None
    for number, _ in enumerate(diagnosis.failure.frames[:1]):
        devices = tuple(f".to({name.text}.device)" for name in names_in_frame(diagnosis.peer, number)[:2])
        if devices:
            yield from at_uses(diagnosis, edited, devices)
