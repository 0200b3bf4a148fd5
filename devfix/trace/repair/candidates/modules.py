"""Candidates for parameters, buffers and attributes of modules: the module moves, or registers what it keeps."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Applicability, ReplaceExpression, ReplaceStatement, Where
from devfix.syntax.tree import SourceTree
from devfix.trace.diagnosis.diagnose import Diagnosis
from devfix.trace.repair.candidates._candidate import (
    Candidate,
    Spot,
    appended,
    inserted,
    outside_loops,
    redirected,
    spots_of,
    trailers,
    usable,
)
from devfix.trace.repair.edited_sources import Texts
from devfix.trace.story import Happening, ModuleHappening, Owner

__all__ = ["moved"]

_MOST_FRAMES = 4


def moved(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """Bring the module that keeps the culprit, or what the culprit was computed from, to the accelerator."""
    kept = next((event for event in diagnosis.culprit.strand() if event.owner is not None), None)
    if kept is None or kept.owner is None:
        return
    owner = kept.owner
    if owner.kind == "attribute":
        yield from _registered_tensor(diagnosis, kept, owner, texts)
        return
    if owner.container is not None:
        yield from _registered_modules(diagnosis, kept, owner, texts)
    last = owner.last_move
    if last is not None and last.device != "cpu":
        yield from _after_the_change(diagnosis, kept, owner, last, texts)
    if last is not None and last.device == "cpu":
        if diagnosis.rule == "DEV501":
            yield from _sent_there(diagnosis, last, texts)
        yield from _brought_back(diagnosis, last, texts)
    yield from _beside_a_sibling(diagnosis, kept, texts)
    yield from _where_made(diagnosis, kept, texts)
    yield from _before_use(diagnosis, texts)


# --- attached after the move ------------------------------------------------------------------------------------------
def _after_the_change(
    diagnosis: Diagnosis, kept: Happening, owner: Owner, last: ModuleHappening, texts: Texts
) -> Iterator[Candidate]:
    """The move said again after the last structural change, or the new part moved where it is attached."""
    changes = [event for events in (owner.events, *(each.events for each in owner.above)) for event in events]
    attached = [event for event in changes if event.kind == "attached" and event.index > last.index]
    moves = [Spot(*found, position) for position in last.chain if (found := texts.node_at(position))]
    for event in sorted(attached, key=lambda each: -each.index):
        for position in event.chain:
            found = texts.node_at(position)
            if found is None:
                continue
            spot = Spot(*found, position)
            for move in moves:
                code = _statement_of_move(move)
                if code is not None and _same_function(move, spot) and usable(spot, spot.statement, code):
                    yield inserted(spot, _last_change(spot, attached, texts), Where.AFTER, code)
            yield from _part_moved(diagnosis, spot)


def _statement_of_move(move: Spot) -> str | None:
    """``model.to(device)``, as it stands, or as a statement of its own where it is a part of one."""
    call, statement = move.node, move.statement
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if isinstance(statement, ast.Expr) and statement.value is call:
        return move.tree.source(statement)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = move.tree.source(statement.targets[0])
        receiver = call.func.value
        trailer = move.tree.source(call).removeprefix(move.tree.source(receiver))
        same = ast.unparse(receiver) == ast.unparse(statement.targets[0])
        return f"{target} = {target}{trailer}" if same else f"{target}{trailer}"
    return None


def _same_function(one: Spot, other: Spot) -> bool:
    return one.tree is other.tree and one.tree.function(one.node) is other.tree.function(other.node)


def _last_change(spot: Spot, attached: list[ModuleHappening], texts: Texts) -> ast.stmt:
    """The last statement of the spot's block in which a part was attached, out of loops that attach several."""
    lines = {position.line for event in attached for position in event.chain if position.file == spot.tree.path}
    statement = spot.statement
    for parent in spot.tree.ancestors(statement):
        if isinstance(parent, (ast.For, ast.While)):
            statement = parent
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            break
    _, block, index = spot.tree.block(statement)
    later = [each for each in block[index:] if any(each.lineno <= n <= (each.end_lineno or 0) for n in lines)]
    return later[-1] if later else statement


def _part_moved(diagnosis: Diagnosis, spot: Spot) -> Iterator[Candidate]:
    statement = spot.statement
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        for trailer in trailers(diagnosis, spot, statement):
            yield appended(spot, statement.value, trailer, "the new part")
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and _name_of(node) in ("setattr", "add_module", "register_module"):
            for trailer in trailers(diagnosis, spot, statement):
                yield appended(spot, node.args[-1], trailer, "the new part")


def _name_of(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


# --- never moved ------------------------------------------------------------------------------------------------------
def _where_made(diagnosis: Diagnosis, kept: Happening, texts: Texts) -> Iterator[Candidate]:
    """At the calls that made it: those outside of constructors first, for they make the outermost module."""
    spots = [_outermost(spot) for spot in spots_of(kept, texts) if isinstance(spot.node, ast.Call)]
    outer = [spot for spot in spots if getattr(spot.tree.function(spot.node), "name", "") != "__init__"]
    inner = [spot for spot in spots if spot not in outer]
    for spot in (*outer, *inner):
        node = spot.node
        assert isinstance(node, ast.Call)
        if not spot.value_is_used or isinstance(spot.statement, ast.Return):
            continue
        if isinstance(spot.statement, ast.Assign) and isinstance(spot.statement.targets[0], ast.Tuple):
            continue
        for trailer in trailers(diagnosis, spot):
            yield appended(spot, node, trailer, "the module")
    for spot in outer:
        if isinstance(spot.statement, ast.Return) and isinstance(spot.node, ast.expr):
            for trailer in trailers(diagnosis, spot):
                yield appended(spot, spot.node, trailer, "the module")


def _outermost(spot: Spot) -> Spot:
    """The construction that a construction is an argument of: ``nn.Sequential(…)`` around ``nn.Linear(…)``."""
    child: ast.AST = spot.node
    found = spot.node
    for parent in spot.tree.ancestors(spot.node):
        if isinstance(parent, ast.Call) and child is not parent.func:
            if not _name_of(parent).lstrip("_")[:1].isupper():
                break
            found = parent
        elif not isinstance(parent, (ast.List, ast.Tuple, ast.Starred, ast.keyword)):
            break
        child = parent
    return Spot(spot.tree, found, spot.position)


def _beside_a_sibling(diagnosis: Diagnosis, kept: Happening, texts: Texts) -> Iterator[Candidate]:
    """Where another module is moved by a statement, the same statement for this one, after it."""
    names = [target for spot in spots_of(kept, texts) for target in _assigned(spot)]
    for value in diagnosis.story.values:
        for event in value.history:
            last = event.owner.last_move if event.owner is not None else None
            if last is None or last.device == "cpu" or value.device == diagnosis.culprit.device:
                continue
            for position in last.chain:
                found = texts.node_at(position)
                move = Spot(*found, position) if found is not None else None
                if move is None or not isinstance(move.statement, ast.Expr):
                    continue
                if not isinstance(move.node, ast.Call) or not isinstance(move.node.func, ast.Attribute):
                    continue
                receiver = move.tree.source(move.node.func.value)
                trailer = move.tree.source(move.node).removeprefix(receiver)
                for path, name in names:
                    if path == move.tree.path and usable(move, move.statement, name):
                        yield inserted(move, move.statement, Where.AFTER, f"{name}{trailer}")


def _assigned(spot: Spot) -> Iterator[tuple[str, str]]:
    statement = spot.statement
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Name, ast.Attribute)):
        yield spot.tree.path, spot.tree.source(statement.targets[0])


# --- sent to the wrong place ------------------------------------------------------------------------------------------
def _sent_there(diagnosis: Diagnosis, away: ModuleHappening, texts: Texts) -> Iterator[Candidate]:
    """The move that took it to the CPU goes to the accelerator."""
    for position in away.chain:
        found = texts.node_at(position)
        if found is not None:
            yield from redirected(diagnosis, Spot(*found, position))


# --- moved away -------------------------------------------------------------------------------------------------------
def _brought_back(diagnosis: Diagnosis, away: ModuleHappening, texts: Texts) -> Iterator[Candidate]:
    """After what took it to the CPU, from the nearest caller that the failure shares with it."""
    for position in away.chain:
        found = texts.node_at(position)
        for number, frame in enumerate(diagnosis.story.frames):
            if found is None or (frame.file, frame.function) != (position.file, position.function):
                continue
            spot = Spot(*found, position)
            for name in _module_names(diagnosis, number, away):
                for trailer in trailers(diagnosis, spot):
                    if usable(spot, spot.statement, name):
                        yield inserted(spot, spot.statement, Where.AFTER, f"{name}{trailer}")


def _before_use(diagnosis: Diagnosis, texts: Texts) -> Iterator[Candidate]:
    """Ahead of the failing statement, out of its loops, in the functions that led to it."""
    for number, position in enumerate(diagnosis.story.frames[:_MOST_FRAMES]):
        found = texts.node_at(position)
        if found is None:
            continue
        spot = Spot(*found, position)
        for name in _module_names(diagnosis, number):
            anchor = outside_loops(spot, name)
            for trailer in trailers(diagnosis, spot, anchor) if name != "self" else ():
                yield inserted(spot, anchor, Where.BEFORE, f"{name}{trailer}")


def _module_names(diagnosis: Diagnosis, frame: int, moved: ModuleHappening | None = None) -> list[str]:
    """What a frame calls the module that keeps the culprit: the outermost one, or the one that was moved."""
    found: dict[str, None] = {}
    for event in diagnosis.culprit.strand():
        owner = event.owner
        for name in event.names if owner is not None else ():
            if owner is not None and name.frame == frame and name.text.endswith(f".{owner.attribute}"):
                levels = _levels(name.text, owner)
                chosen = [text for text, events in levels if moved is None or moved in events]
                found.update(dict.fromkeys(chosen[-1:]))
    return list(found)


def _levels(name: str, owner: Owner) -> list[tuple[str, tuple[ModuleHappening, ...]]]:
    """The module that keeps a tensor and those around it, as far as the name goes, as expressions with their events."""
    parts = re.findall(r"[^.\[]+|\[[^\]]*\]", name)
    found = []
    for steps, events in ((0, owner.events), *((each.path.count(".") + 1, each.events) for each in owner.above)):
        kept = parts[: len(parts) - 1 - steps]
        if kept:
            text = "".join(part if part.startswith("[") or n == 0 else f".{part}" for n, part in enumerate(kept))
            found.append((text, events))
    return found


# --- what is kept, but not registered ---------------------------------------------------------------------------------
def _registered_tensor(diagnosis: Diagnosis, kept: Happening, owner: Owner, texts: Texts) -> Iterator[Candidate]:
    """``self.register_buffer("table", …, persistent=False)``, which the module moves and does not save."""
    for tree, cls in _classes(diagnosis, kept, owner.type, texts):
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
                spot = Spot(tree, statement.value, diagnosis.where)
                for trailer in trailers(diagnosis, spot, statement):
                    yield appended(spot, statement.value, trailer, f"`{owner.attribute}`")


def _classes(
    diagnosis: Diagnosis, kept: Happening, name: str, texts: Texts
) -> Iterator[tuple[SourceTree, ast.ClassDef]]:
    """The classes of a name in the files that the story tells of."""
    known = [*diagnosis.story.frames, *kept.chain]
    for path in dict.fromkeys(position.file for position in known):
        tree = texts.tree(path)
        for cls in ast.walk(tree.tree) if tree is not None else ():
            if tree is not None and isinstance(cls, ast.ClassDef) and cls.name == name:
                yield tree, cls


def _registered_modules(diagnosis: Diagnosis, kept: Happening, owner: Owner, texts: Texts) -> Iterator[Candidate]:
    """``nn.ModuleList`` around the container that hides the modules."""
    assert owner.container is not None
    keeper, attribute, kind = owner.container
    for tree, cls in _classes(diagnosis, kept, keeper, texts):
        yield from _wrapped(tree, cls, attribute, kind == "dict")


def _wrapped(tree: SourceTree, cls: ast.ClassDef, attribute: str, mapping: bool) -> Iterator[Candidate]:
    from devfix.fixes.modules.registered_containers import wrapped

    prefix = _prefix_of_nn(tree)
    kind = "nn.ModuleDict" if mapping else "nn.ModuleList"
    for node in ast.walk(cls):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None or prefix is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        code = wrapped(tree, node.value, mapping, prefix) if ast.unparse(target) == f"self.{attribute}" else None
        if code is not None:
            edit = ReplaceExpression(tree.path, tree.span(node.value), code)
            yield Candidate(
                f"register `{attribute}`: `{kind}`", (edit,), Applicability.UNSAFE
            )  # the state dict changes


def _prefix_of_nn(tree: SourceTree) -> str | None:
    """How a file writes ``torch.nn.``; None where it does not import it."""
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
