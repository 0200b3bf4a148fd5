"""Where a module that nobody moved is to be moved: beside its siblings, at its construction, or where it is kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import is_device, value_of, visible
from devfix.fixes.insertion_point import inside_module, same_function
from devfix.fixes.module_move import ModuleMove, module_move_at
from devfix.fixes.modules.module_roots import RootModule, containers_named, roots_named
from devfix.fixes.modules.parallel_wrappers import declared, module_move_of_wrapper
from devfix.fixes.modules.sibling_moves import module_beside_siblings
from devfix.fixes.move_style import Move
from devfix.fixes.statement_range import StatementRange
from devfix.model import AppendCode, Edit, Fix, InsertStatement, Where
from devfix.syntax.bindings import written_in

__all__ = ["InsertionPoint", "insertion_point_of"]

_MOST = 5


@dataclass(frozen=True, eq=False)
class _Spot:
    """A level at which the whole can be moved.

    ``name`` is what the level calls it, ``value`` the expression that yields it; one of the two is there.
    ``entry`` says that the function is given the whole: then ``statement`` is the first that speaks of it.  ``within``
    says that an object keeps it that is made here, ``container`` that ``name`` is such an object, with its own ``to``.
    """

    call_frame: CallFrame
    statement: ast.stmt
    name: str | None
    value: ast.expr | None = None
    entry: bool = False
    container: bool = False
    within: bool = False


@dataclass(frozen=True, eq=False)
class InsertionPoint:
    """Where a whole belongs: what it is called there, the expression to show, the ways to move it, best first."""

    name: str
    call_frame: CallFrame
    node: ast.AST
    fixes: tuple[Fix, ...]


def insertion_point_of(observations: Observations, mismatch: DeviceMismatch, root: RootModule) -> InsertionPoint:
    """Where and how an expert would move the whole; without fixes where nothing there names a device."""
    spots = [spot for spot in _spots(observations, mismatch, root) if not inside_module(spot.call_frame)]
    ranked = sorted(enumerate(spots), key=lambda pair: (*_rank(observations, mismatch, root, pair[1]), pair[0]))
    edits: dict[Edit, _Spot] = {}
    if ranked and not any(same_function(point.call_frame, ranked[0][1].call_frame) for point in observations.moves):
        edits.update(dict.fromkeys(module_beside_siblings(observations, mismatch, root), ranked[0][1]))
    for _, spot in ranked:
        for edit in _edits(observations, mismatch, root, spot):
            edits.setdefault(edit, spot)
    ordered = list(edits.items())[:_MOST]
    made = f"{ast.unparse(root.allocated_at.node)}"[:60] if isinstance(root.allocated_at.node, ast.Call) else "a module"
    fixes = tuple(Fix(f"move `{spot.name or made}`: `{_told(edit)}`", (edit,)) for edit, spot in ordered)
    if not fixes and (choice := declared(mismatch, root)) is not None:
        fixes = (choice,)
    best = ordered[0][1] if ordered else ranked[0][1] if ranked else None
    name = best.name if best is not None and best.name is not None else made
    if best is None or best.entry or isinstance(best.statement, (ast.If, ast.Try)):
        return InsertionPoint(name, root.allocated_at.call_frame, root.allocated_at.node, fixes)
    return InsertionPoint(name, best.call_frame, best.value or best.statement, fixes)


def _told(edit: Edit) -> str:
    return str(getattr(edit, "code", "")).splitlines()[-1].strip()


# --- levels ---------------------------------------------------------------------------------------------------------
def _spots(observations: Observations, mismatch: DeviceMismatch, root: RootModule) -> Iterator[_Spot]:
    if root.partly is not None:
        yield from _behind_its_move(mismatch, root.partly)
    for call_frame in reversed(root.allocated_at.call_stack):
        for name in containers_named(mismatch.point, call_frame, root):
            if name in _targets(call_frame.stmt):
                yield _Spot(call_frame, call_frame.stmt, name, container=True)
    yield from _made(mismatch, root)
    for holding in observations.module_references:
        if holding.module.id in root.chain and isinstance(holding.point.node, ast.Attribute):
            statement = holding.point.stmt
            name = ast.unparse(holding.point.node)
            yield _Spot(holding.point.call_frame, statement, name, _value(statement, name))
    for call_frame in reversed(mismatch.point.call_stack):
        for name in roots_named(mismatch.point, call_frame, root)[:1]:
            first = _first_mention(call_frame, name)
            if first is not None:
                yield _Spot(call_frame, first, name, entry=True)


def _made(mismatch: DeviceMismatch, root: RootModule) -> Iterator[_Spot]:
    """The levels of the construction, innermost first."""
    innermost = root.allocated_at.call_stack[-1]
    for call_frame in reversed(root.allocated_at.call_stack):
        names = roots_named(mismatch.point, call_frame, root)
        targets = _targets(call_frame.stmt)
        stored = [name for name in names if name in targets]
        if stored:
            yield _Spot(call_frame, call_frame.stmt, stored[0], _value(call_frame.stmt, stored[0]))
            continue
        if call_frame is innermost and isinstance(root.allocated_at.node, ast.Call):
            yield _Spot(call_frame, call_frame.stmt, None, root.allocated_at.node)
        kept = [name for name in names if name.rpartition(".")[0] in targets]
        if kept:
            yield _Spot(call_frame, call_frame.stmt, kept[0], within=True)


def _behind_its_move(mismatch: DeviceMismatch, moved: ProgramPoint) -> Iterator[_Spot]:
    """The whole is moved on one branch only: behind the statement that branches."""
    call = moved.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return
    name = ast.unparse(call.func.value)
    outermost: ast.stmt | None = None
    used = {
        call_frame.stmt
        for call_frame in mismatch.point.call_stack
        if call_frame.activation is moved.call_frame.activation
    }
    for parent in moved.tree.ancestors(moved.stmt):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)) or used & set(ast.walk(parent)):
            break
        if isinstance(parent, (ast.If, ast.Try)):
            outermost = parent
    if outermost is not None and name.replace(".", "").isidentifier():
        yield _Spot(moved.call_frame, outermost, name)


def _targets(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
    flat: list[str] = []
    for target in targets:
        flat.extend(ast.unparse(e) for e in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]))
    return flat


def _value(statement: ast.stmt, name: str) -> ast.expr | None:
    """The expression that a name is assigned from; ``None`` where it is taken out of something larger."""
    if isinstance(statement, ast.AnnAssign):
        return statement.value
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, (ast.Tuple, ast.List)):
        return value
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        return next((v for t, v in zip(target.elts, value.elts, strict=True) if ast.unparse(t) == name), None)
    return None


def _first_mention(call_frame: CallFrame, name: str) -> ast.stmt | None:
    """The first statement of a function that speaks of what it was given."""
    function = call_frame.activation.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or name in written_in(function):
        return None
    for statement in function.body:
        if name in _read(statement):
            return statement
    return None


def _rank(
    observations: Observations, mismatch: DeviceMismatch, root: RootModule, spot: _Spot
) -> tuple[bool, bool, bool, bool]:
    siblings = any(
        same_function(point.call_frame, spot.call_frame) for point in observations.moves if point is not root.partly
    )
    return (
        spot.entry,
        not (siblings or spot.container or _behind(root, spot)),
        _only_makes(mismatch, spot),
        spot.within,
    )


def _behind(root: RootModule, spot: _Spot) -> bool:
    return root.partly is not None and isinstance(spot.statement, (ast.If, ast.Try))


def _only_makes(mismatch: DeviceMismatch, spot: _Spot) -> bool:
    """Whether a function does no more than make the whole and give it back: its callers know the device."""
    function = spot.call_frame.activation.node
    if (
        not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        or spot.call_frame.activation.final_locals is None
    ):
        return False
    returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    given = any(value is spot.value or spot.name in _read(value) for value in returns)
    own = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)} | written_in(function)
    names = visible(mismatch.point, spot.call_frame)
    return given and not any(name in names and is_device(name, names[name]) for name in own)


def _read(node: ast.AST) -> set[str]:
    return {ast.unparse(inner) for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute))}


# --- edits ----------------------------------------------------------------------------------------------------------
def _edits(observations: Observations, mismatch: DeviceMismatch, root: RootModule, spot: _Spot) -> Iterator[Edit]:
    words = module_move_at(observations, mismatch, spot.call_frame, root.partly) or module_move_of_wrapper(
        mismatch, spot.call_frame, root
    )
    if words is None:
        return
    tree = spot.call_frame.tree
    if spot.entry:
        assert spot.name is not None
        if words.ready(spot.call_frame, spot.statement):
            yield InsertStatement(tree.path, tree.span(spot.statement), Where.BEFORE, words.statement(spot.name))
        return
    if spot.name is None:
        if spot.value is not None and words.plain and words.ready(spot.call_frame, spot.statement):
            yield AppendCode(tree.path, tree.span(spot.value), words.trailer)
        return
    statement_range = StatementRange(mismatch, root, spot.call_frame, spot.statement, spot.name)
    start = statement_range.start(words)
    beside = _beside(observations, mismatch, root, spot, statement_range, words)
    if beside is not None:
        yield beside
    chained = words.chained or not words.stated
    if (
        spot.value is not None
        and words.plain
        and not statement_range.changes
        and (words.chained or (chained and not statement_range.loads))
        and words.ready(spot.call_frame, spot.statement)
        and not isinstance(spot.value, ast.IfExp)
    ):
        yield AppendCode(tree.path, tree.span(spot.value), words.trailer)
    if start is not None:
        anchor = statement_range.block[start]
        yield InsertStatement(tree.path, tree.span(anchor), Where.AFTER, words.statement(spot.name))
    if isinstance(spot.value, ast.Call) and words.plain and words.ready(spot.call_frame, spot.statement):
        yield AppendCode(tree.path, tree.span(spot.value), words.trailer)


def _beside(
    observations: Observations,
    mismatch: DeviceMismatch,
    root: RootModule,
    spot: _Spot,
    statement_range: StatementRange,
    words: ModuleMove,
) -> Edit | None:
    """Directly behind the move of a sibling, in its form, where that stands between construction and first use.

    Of several siblings, the last one that is made ahead of this one: moves keep the order of constructions.
    """
    assert spot.name is not None
    start = statement_range.start(words, loaded=False)
    best: tuple[int, ProgramPoint] | None = None
    for point in sorted(observations.moves, key=lambda point: point.key):
        if point is root.partly or not same_function(point.call_frame, spot.call_frame) or not _is_statement(point):
            continue
        index = statement_range.index_of(point.stmt)
        if index is None or start is None or not start < index < statement_range.limit:
            continue
        if best is None or _made_before(mismatch, root, point):
            best = index, point
    if best is None:
        return None
    index, point = best
    move, tree = Move(point), spot.call_frame.tree
    outer = statement_range.block[index]
    inside = outer is point.stmt or (outer is move.guard and len(move.guard.body) > 0)
    own = ModuleMove(
        move.trailer(), None, move.guard if isinstance(move.guard, ast.IfExp) else None, point, words.names
    )
    where = Where.AFTER if _made_before(mismatch, root, point) else Where.BEFORE
    if not inside:
        return InsertStatement(tree.path, tree.span(outer), where, words.statement(spot.name))
    return InsertStatement(tree.path, tree.span(point.stmt), where, own.statement(spot.name))


def _made_before(mismatch: DeviceMismatch, root: RootModule, move: ProgramPoint) -> bool:
    """Whether the module that a move is about was made ahead of the whole."""
    call, memory = move.node, mismatch.point.state
    assert memory is not None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return False
    value = value_of(mismatch.point, move.call_frame, call.func.value)
    known = [o for o in alternatives(value) if isinstance(o, Pointer) and memory.has(o.id)] if value is not None else []
    made = [memory.at(option.id).allocated_at for option in known]
    return any(allocated_at is not None and allocated_at.time < root.allocated_at.time for allocated_at in made)


def _is_statement(point: ProgramPoint) -> bool:
    """``model.to(device)`` and ``model = model.to(device)``, not ``model = Net().to(device)``."""
    call = point.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return False
    return isinstance(call.func.value, (ast.Name, ast.Attribute, ast.Subscript))
