"""Candidates for tensors that are out of place: beside their siblings, at their birth, where they are bound or used."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from devfix.model import AppendCode, ReplaceExpression, ReplaceStatement, Where
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._around import (
    LOOPS,
    MOST_FRAMES,
    assignable,
    binding_loop,
    comes_from_loader,
    moves_before,
)
from devfix.trace.repair.candidates._candidate import (
    Candidate,
    Spot,
    appended,
    can_bind,
    inserted,
    made_there_or_moved,
    names_in,
    redirected,
    spots_of,
    trailers,
    usable,
)
from devfix.trace.repair.candidates.containers import rows, whole_containers
from devfix.trace.repair.edited_sources import Texts

__all__ = ["left_where_it_was", "moved", "uses"]

_MOST_BIRTHS = 5


def moved(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """Bring the culprit to the accelerator."""
    yield from _its_copy(diagnosis, texts)
    yield from _sent_there(diagnosis, texts)
    if comes_from_loader(diagnosis, texts):
        yield from rows(diagnosis, texts)
        yield from _beside_siblings(diagnosis, texts)
        yield from whole_containers(diagnosis, texts, numbered=True)
        yield from _where_bound(diagnosis, texts, outermost_first=True)
        yield from _loaded(diagnosis, texts)
        yield from _births(diagnosis, texts)
    else:
        yield from _loaded(diagnosis, texts)
        yield from _births(diagnosis, texts)
        yield from _beside_siblings(diagnosis, texts)
    yield from uses(diagnosis, texts)
    yield from _where_bound(diagnosis, texts)
    yield from whole_containers(diagnosis, texts)
    if diagnosis.package is not None:
        yield from _met_on_the_cpu(diagnosis, texts)


# --- sent to the wrong place ------------------------------------------------------------------------------------------
def _sent_there(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """What a transfer or a factory was told is the CPU: it is told the accelerator."""
    for event in diagnosis.culprit.strand():
        for spot in spots_of(event, texts) if event.kind in ("moved", "created") else ():
            yield from redirected(diagnosis, _kept_there(spot) or spot)


def _kept_there(spot: Spot) -> Spot | None:
    """The transfer that a new tensor goes through at once, which left it on the CPU."""
    method = spot.tree.parents.get(spot.node)
    call = spot.tree.parents.get(method) if isinstance(method, ast.Attribute) else None
    if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute) or method.attr not in ("to", "cpu"):
        return None
    return Spot(spot.tree, call, spot.position)


# --- a copy of it is on the accelerator -------------------------------------------------------------------------------
def _its_copy(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """What was moved is used under its new name; a move whose result nothing took is given to its own name."""
    for event in diagnosis.culprit.strand():
        copy = event.copy
        if copy is None or diagnosis.peer is None or copy.device != diagnosis.peer.device or copy.module:
            continue
        for position in copy.chain[:1]:
            found = texts.node_at(position)
            if found is None or not isinstance(found[1], ast.Call) or not isinstance(found[1].func, ast.Attribute):
                continue
            spot = Spot(*found, position)
            statement, receiver = spot.statement, spot.tree.source(found[1].func.value)
            if isinstance(statement, ast.Expr) and statement.value is spot.node:
                code = f"{receiver} = {spot.tree.source(statement)}"
                edit = ReplaceStatement(spot.tree.path, spot.tree.span(statement), (code,))
                yield Candidate(f"keep what `{receiver}` becomes: `{code}`", (edit,))
            yield from _renamed(diagnosis, texts, spot)


def _renamed(diagnosis: Diagnosis, texts: Texts, copied: Spot) -> Iterator[Candidate]:
    name = _bound_to(copied)
    for number, position in enumerate(diagnosis.story.frames[:MOST_FRAMES]):
        found = texts.node_at(position)
        if name is None or found is None or found[0] is not copied.tree:
            continue
        spot = Spot(*found, position)
        if spot.tree.function(spot.node) is copied.tree.function(copied.node):
            for operand in _operands(diagnosis, spot, number):
                if spot.tree.source(operand) != name:
                    edit = ReplaceExpression(spot.tree.path, spot.tree.span(operand), name)
                    yield Candidate(f"use `{name}`, which was moved", (edit,))


def _bound_to(spot: Spot) -> str | None:
    """The name that a statement gives to the value of an expression in it."""
    statement = spot.statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    else:
        pairs = [(target, value)]
    return next((spot.tree.source(name) for name, made in pairs if made is spot.node), None)


# --- beside its siblings ----------------------------------------------------------------------------------------------
def _beside_siblings(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """A statement that moves another value, said again for the culprit, after the last of its kind."""
    for number in reversed(range(min(len(diagnosis.story.frames), MOST_FRAMES))):
        position = diagnosis.story.frames[number]
        found = texts.node_at(position)
        names = assignable(diagnosis.culprit, number)
        if found is None or not names:
            continue
        spot = Spot(*found, position)
        for statement, trailer in moves_before(spot):
            for name in names:
                if usable(spot, statement, name) and can_bind(spot, statement, name):
                    yield inserted(spot, statement, Where.AFTER, f"{name} = {name}{trailer}")


# --- where it is bound ------------------------------------------------------------------------------------------------
def _where_bound(diagnosis: Diagnosis, texts: Texts, outermost_first: bool = False) -> Iterator[Candidate]:
    """``x = x.to(device)``: first thing in the loop that binds it, else ahead of the statement that fails."""
    frames = list(enumerate(diagnosis.story.frames[:MOST_FRAMES]))
    for number, position in reversed(frames) if outermost_first else frames:
        found = texts.node_at(position)
        if found is None:
            continue
        spot = Spot(*found, position)
        for name in assignable(diagnosis.culprit, number):
            for trailer in trailers(diagnosis, spot) if can_bind(spot, spot.node, name) else ():
                code = f"{name} = {name}{trailer}"
                loop = binding_loop(spot, name)
                if loop is not None:
                    yield inserted(spot, loop, Where.BODY_START, code)
                yield inserted(spot, spot.statement, Where.BEFORE, code)


def _met_on_the_cpu(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """What an installed package keeps on the CPU is met there: its arguments are copied to it."""
    for position in diagnosis.story.frames[:MOST_FRAMES]:
        found = texts.node_at(position)
        call = found[1] if found is not None else None
        if found is None or not isinstance(call, ast.Call):
            continue
        spot = Spot(*found, position)
        wanted = [each for each in call.args if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript))]
        edits = [AppendCode(spot.tree.path, spot.tree.span(each), ".cpu()") for each in wanted]
        if edits:
            listed = ", ".join(f"{spot.tree.source(each)}.cpu()" for each in wanted)
            yield Candidate(f"give it `{listed}`", tuple(edits))


# --- at its birth -----------------------------------------------------------------------------------------------------
def _loaded(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    from devfix.model import AddKeyword

    for event in diagnosis.culprit.strand():
        if event.kind != "loaded":
            continue
        for spot in spots_of(event, texts):
            call = spot.node
            if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith("load"):
                continue
            given = next((keyword for keyword in call.keywords if keyword.arg == "map_location"), None)
            for trailer in trailers(diagnosis, spot):
                if not trailer.startswith(".to("):
                    continue
                word = trailer[len(".to(") : -1]
                path = spot.tree.path
                edit = (
                    AddKeyword(path, spot.tree.span(call), "map_location", word)
                    if given is None
                    else ReplaceExpression(path, spot.tree.span(given.value), word)
                )
                yield Candidate(f"load to `{word}`", (edit,))


def _births(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """At the events that made it, the oldest first; then at the calls of the functions that returned it."""
    live = {(frame.file, frame.function) for frame in diagnosis.story.frames}
    inner: list[Spot] = []
    outer: list[Spot] = []
    for event in diagnosis.culprit.strand():
        spots = list(spots_of(event, texts))
        if event.kind == "moved" or event.loader:
            continue
        if any(spot.in_loader or isinstance(spot.node, LOOPS) for spot in spots):
            continue
        inner += [spot for spot in spots[:1] if not _makes_an_object(spot)]
        for made, call in itertools.pairwise(spots):
            if (made.position.file, made.position.function) in live:
                break
            if not _is_tuple_call(call) and not _makes_an_object(call):
                outer.append(call)
    for spot in (*inner[:_MOST_BIRTHS], *outer[:_MOST_BIRTHS]):
        if spot.value_is_used:
            for trailer in trailers(diagnosis, spot):
                candidate = made_there_or_moved(spot, trailer, _name(diagnosis))
                if candidate is not None:
                    yield candidate


def _is_tuple_call(spot: Spot) -> bool:
    """Whether the value of the call is taken apart: it is no tensor."""
    statement = spot.statement
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Tuple, ast.List))


def _makes_an_object(spot: Spot) -> bool:
    """Whether the call is one of a class other than that of tensors, by its name."""
    if not isinstance(spot.node, ast.Call):
        return False
    name = ast.unparse(spot.node.func).split(".")[-1].lstrip("_")
    return name[:1].isupper() and not name.endswith(("Tensor", "Variable"))


def _name(diagnosis: Diagnosis) -> str:
    return f"`{diagnosis.name}`"


# --- where it is used -------------------------------------------------------------------------------------------------
def uses(diagnosis: Diagnosis, texts: Texts, spoken: tuple[str, ...] | None = None) -> Iterator[Candidate]:
    """The operand of the call that fails, and of the calls that led to it; with the trailers of ``spoken`` if given."""
    for number, position in enumerate(diagnosis.story.frames[:MOST_FRAMES]):
        found = texts.node_at(position)
        if found is None:
            continue
        spot = Spot(*found, position)
        for operand in _operands(diagnosis, spot, number):
            for trailer in spoken or trailers(diagnosis, spot, operand):
                yield appended(spot, operand, trailer, _name(diagnosis))


def _operands(diagnosis: Diagnosis, spot: Spot, frame: int) -> Iterator[ast.expr]:
    """Expressions within the failing one that are the culprit: by its names, else by the event that made it."""
    texts = [name.text for name in names_in(diagnosis.culprit, frame)]
    nodes = [each for each in ast.walk(spot.node) if isinstance(each, ast.expr) and _is_read(each)]
    written = [(ast.unparse(each), each) for each in nodes]
    for text in texts:
        wanted = _normal(text)
        yield from (each for source, each in written if source == wanted)
    if frame == 0 and diagnosis.culprit.last is not None:
        span = diagnosis.culprit.last.position.span if diagnosis.culprit.last.position else None
        if span is not None:
            yield from (
                each
                for each in nodes
                if each is not spot.node
                and (each.lineno, each.col_offset, each.end_lineno, each.end_col_offset) == span
            )


def _is_read(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _normal(text: str) -> str:
    try:
        return ast.unparse(ast.parse(text, mode="eval"))
    except SyntaxError:
        return text


# --- a stray one on the accelerator -----------------------------------------------------------------------------------
def left_where_it_was(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """Where all else is on the CPU: the transfer that took the culprit away goes to the device of what it meets."""
    for event in diagnosis.culprit.history:
        if event.kind != "moved":
            continue
        for spot in spots_of(event, texts):
            call = spot.node
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
                span = spot.tree.span(call)
                source = spot.tree.source(call.func.value)
                yield Candidate(f"leave `{source}` where it is", (ReplaceExpression(spot.tree.path, span, source),))
    assert diagnosis.peer is not None
    for number, _ in enumerate(diagnosis.story.frames[:1]):
        devices = tuple(f".to({name.text}.device)" for name in names_in(diagnosis.peer, number)[:2])
        if devices:
            yield from uses(diagnosis, texts, devices)
