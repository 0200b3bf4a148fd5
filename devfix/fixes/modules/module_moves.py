"""Where a module that nobody moved is to be moved: beside its siblings, at its construction, or where it is kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Facts
from devfix.analysis.domain.location import Level, Site
from devfix.analysis.domain.values import Ref, options
from devfix.analysis.observations import Meeting
from devfix.analysis.scopes import is_device, value_of, visible
from devfix.fixes.device_expression import written_in
from devfix.fixes.insertion_point import Move, inside_module, same_function
from devfix.fixes.module_move_style import words_at
from devfix.fixes.modules.module_roots import Whole, containers_named, wholes_named
from devfix.fixes.modules.parallel_wrappers import declared, words_of_wrapper
from devfix.fixes.modules.sibling_moves import module_beside_siblings
from devfix.fixes.statement_range import Stretch, Words
from devfix.model import AppendCode, Edit, InsertStatement, Remedy, Where

__all__ = ["Home", "home_of"]

_MOST = 5


@dataclass(frozen=True, eq=False)
class _Spot:
    """A level at which the whole can be moved.

    ``name`` is what the level calls it, ``value`` the expression that yields it; one of the two is there.
    ``entry`` says that the function is given the whole: then ``statement`` is the first that speaks of it.  ``within``
    says that an object keeps it that is made here, ``container`` that ``name`` is such an object, with its own ``to``.
    """

    level: Level
    statement: ast.stmt
    name: str | None
    value: ast.expr | None = None
    entry: bool = False
    container: bool = False
    within: bool = False


@dataclass(frozen=True, eq=False)
class Home:
    """Where a whole belongs: what it is called there, the expression to show, the ways to move it, best first."""

    name: str
    level: Level
    node: ast.AST
    remedies: tuple[Remedy, ...]


def home_of(facts: Facts, meeting: Meeting, whole: Whole) -> Home:
    """Where and how an expert would move the whole; without remedies where nothing there names a device."""
    spots = [spot for spot in _spots(facts, meeting, whole) if not inside_module(spot.level)]
    ranked = sorted(enumerate(spots), key=lambda pair: (*_rank(facts, meeting, whole, pair[1]), pair[0]))
    edits: dict[Edit, _Spot] = {}
    if ranked and not any(same_function(site.level, ranked[0][1].level) for site in facts.moves):
        edits.update(dict.fromkeys(module_beside_siblings(facts, meeting, whole), ranked[0][1]))
    for _, spot in ranked:
        for edit in _edits(facts, meeting, whole, spot):
            edits.setdefault(edit, spot)
    ordered = list(edits.items())[:_MOST]
    made = f"{ast.unparse(whole.born.node)}"[:60] if isinstance(whole.born.node, ast.Call) else "a module"
    remedies = tuple(Remedy(f"move `{spot.name or made}`: `{_told(edit)}`", (edit,)) for edit, spot in ordered)
    if not remedies and (choice := declared(meeting, whole)) is not None:
        remedies = (choice,)
    best = ordered[0][1] if ordered else ranked[0][1] if ranked else None
    name = best.name if best is not None and best.name is not None else made
    if best is None or best.entry or isinstance(best.statement, (ast.If, ast.Try)):
        return Home(name, whole.born.level, whole.born.node, remedies)
    return Home(name, best.level, best.value or best.statement, remedies)


def _told(edit: Edit) -> str:
    return str(getattr(edit, "code", "")).splitlines()[-1].strip()


# --- levels ---------------------------------------------------------------------------------------------------------
def _spots(facts: Facts, meeting: Meeting, whole: Whole) -> Iterator[_Spot]:
    if whole.partly is not None:
        yield from _behind_its_move(meeting, whole.partly)
    for level in reversed(whole.born.levels):
        for name in containers_named(meeting.site, level, whole):
            if name in _targets(level.stmt):
                yield _Spot(level, level.stmt, name, container=True)
    yield from _made(meeting, whole)
    for holding in facts.holdings:
        if holding.module.id in whole.chain and isinstance(holding.site.node, ast.Attribute):
            statement = holding.site.stmt
            name = ast.unparse(holding.site.node)
            yield _Spot(holding.site.level, statement, name, _value(statement, name))
    for level in reversed(meeting.site.levels):
        for name in wholes_named(meeting.site, level, whole)[:1]:
            first = _first_mention(level, name)
            if first is not None:
                yield _Spot(level, first, name, entry=True)


def _made(meeting: Meeting, whole: Whole) -> Iterator[_Spot]:
    """The levels of the construction, innermost first."""
    innermost = whole.born.levels[-1]
    for level in reversed(whole.born.levels):
        names = wholes_named(meeting.site, level, whole)
        targets = _targets(level.stmt)
        stored = [name for name in names if name in targets]
        if stored:
            yield _Spot(level, level.stmt, stored[0], _value(level.stmt, stored[0]))
            continue
        if level is innermost and isinstance(whole.born.node, ast.Call):
            yield _Spot(level, level.stmt, None, whole.born.node)
        kept = [name for name in names if name.rpartition(".")[0] in targets]
        if kept:
            yield _Spot(level, level.stmt, kept[0], within=True)


def _behind_its_move(meeting: Meeting, moved: Site) -> Iterator[_Spot]:
    """The whole is moved on one branch only: behind the statement that branches."""
    call = moved.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return
    name = ast.unparse(call.func.value)
    outermost: ast.stmt | None = None
    used = {level.stmt for level in meeting.site.levels if level.frame is moved.level.frame}
    for parent in moved.tree.ancestors(moved.stmt):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)) or used & set(ast.walk(parent)):
            break
        if isinstance(parent, (ast.If, ast.Try)):
            outermost = parent
    if outermost is not None and name.replace(".", "").isidentifier():
        yield _Spot(moved.level, outermost, name)


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


def _first_mention(level: Level, name: str) -> ast.stmt | None:
    """The first statement of a function that speaks of what it was given."""
    function = level.frame.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or name in written_in(function):
        return None
    for statement in function.body:
        if name in _read(statement):
            return statement
    return None


def _rank(facts: Facts, meeting: Meeting, whole: Whole, spot: _Spot) -> tuple[bool, bool, bool, bool]:
    siblings = any(same_function(site.level, spot.level) for site in facts.moves if site is not whole.partly)
    return spot.entry, not (siblings or spot.container or _behind(whole, spot)), _only_makes(meeting, spot), spot.within


def _behind(whole: Whole, spot: _Spot) -> bool:
    return whole.partly is not None and isinstance(spot.statement, (ast.If, ast.Try))


def _only_makes(meeting: Meeting, spot: _Spot) -> bool:
    """Whether a function does no more than make the whole and give it back: its callers know the device."""
    function = spot.level.frame.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or spot.level.frame.left is None:
        return False
    returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    given = any(value is spot.value or spot.name in _read(value) for value in returns)
    own = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)} | written_in(function)
    names = visible(meeting.site, spot.level)
    return given and not any(name in names and is_device(name, names[name]) for name in own)


def _read(node: ast.AST) -> set[str]:
    return {ast.unparse(inner) for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute))}


# --- edits ----------------------------------------------------------------------------------------------------------
def _edits(facts: Facts, meeting: Meeting, whole: Whole, spot: _Spot) -> Iterator[Edit]:
    words = words_at(facts, meeting, spot.level, whole.partly) or words_of_wrapper(meeting, spot.level, whole)
    if words is None:
        return
    tree = spot.level.tree
    if spot.entry:
        assert spot.name is not None
        if words.ready(spot.level, spot.statement):
            yield InsertStatement(tree.path, tree.span(spot.statement), Where.BEFORE, words.statement(spot.name))
        return
    if spot.name is None:
        if spot.value is not None and words.plain and words.ready(spot.level, spot.statement):
            yield AppendCode(tree.path, tree.span(spot.value), words.trailer)
        return
    stretch = Stretch(meeting, whole, spot.level, spot.statement, spot.name)
    start = stretch.start(words)
    beside = _beside(facts, meeting, whole, spot, stretch, words)
    if beside is not None:
        yield beside
    chained = words.chained or not words.stated
    if (
        spot.value is not None
        and words.plain
        and not stretch.changes
        and (words.chained or (chained and not stretch.loads))
        and words.ready(spot.level, spot.statement)
        and not isinstance(spot.value, ast.IfExp)
    ):
        yield AppendCode(tree.path, tree.span(spot.value), words.trailer)
    if start is not None:
        anchor = stretch.block[start]
        yield InsertStatement(tree.path, tree.span(anchor), Where.AFTER, words.statement(spot.name))
    if isinstance(spot.value, ast.Call) and words.plain and words.ready(spot.level, spot.statement):
        yield AppendCode(tree.path, tree.span(spot.value), words.trailer)


def _beside(facts: Facts, meeting: Meeting, whole: Whole, spot: _Spot, stretch: Stretch, words: Words) -> Edit | None:
    """Directly behind the move of a sibling, in its form, where that stands between construction and first use.

    Of several siblings, the last one that is made ahead of this one: moves keep the order of constructions.
    """
    assert spot.name is not None
    start = stretch.start(words, loaded=False)
    best: tuple[int, Site] | None = None
    for site in sorted(facts.moves, key=lambda site: site.key):
        if site is whole.partly or not same_function(site.level, spot.level) or not _is_statement(site):
            continue
        index = stretch.index_of(site.stmt)
        if index is None or start is None or not start < index < stretch.limit:
            continue
        if best is None or _made_before(meeting, whole, site):
            best = index, site
    if best is None:
        return None
    index, site = best
    move, tree = Move(site), spot.level.tree
    outer = stretch.block[index]
    inside = outer is site.stmt or (outer is move.guard and len(move.guard.body) > 0)
    own = Words(move.trailer(), None, move.guard if isinstance(move.guard, ast.IfExp) else None, site, words.names)
    where = Where.AFTER if _made_before(meeting, whole, site) else Where.BEFORE
    if not inside:
        return InsertStatement(tree.path, tree.span(outer), where, words.statement(spot.name))
    return InsertStatement(tree.path, tree.span(site.stmt), where, own.statement(spot.name))


def _made_before(meeting: Meeting, whole: Whole, move: Site) -> bool:
    """Whether the module that a move is about was made ahead of the whole."""
    call, memory = move.node, meeting.site.memory
    assert memory is not None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return False
    value = value_of(meeting.site, move.level, call.func.value)
    known = [o for o in options(value) if isinstance(o, Ref) and memory.has(o.id)] if value is not None else []
    made = [memory.at(option.id).born for option in known]
    return any(born is not None and born.order < whole.born.order for born in made)


def _is_statement(site: Site) -> bool:
    """``model.to(device)`` and ``model = model.to(device)``, not ``model = Net().to(device)``."""
    call = site.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return False
    return isinstance(call.func.value, (ast.Name, ast.Attribute, ast.Subscript))
