"""Moves of a module that was never moved.

Beside its siblings, at its construction, or at the attribute that stores it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.device_branches import calls_cuda
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import Pointer, alternatives
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scopes import is_device, value_of, visible
from devfix.analysis.transfer.device_arguments import MOVE_METHODS
from devfix.fixes.insertion_point import inside_module, same_function
from devfix.fixes.module_move import ModuleMove, module_move_at
from devfix.fixes.modules.configured_modules import configured_move, configured_name, is_configured
from devfix.fixes.modules.local_modules import move_to_operand
from devfix.fixes.modules.module_roots import RootModule, container_names, root_names
from devfix.fixes.modules.parallel_wrappers import declare_device, move_for_wrapper
from devfix.fixes.modules.sibling_moves import move_beside_sibling_modules
from devfix.fixes.move_style import Move
from devfix.fixes.statement_range import StatementRange
from devfix.model import AppendCode, Edit, Fix, InsertStatement, Where
from devfix.syntax.bindings import assigned_names, blocks
from devfix.syntax.tree import SourceTree, short_text

__all__ = ["MovePlan", "plan_move"]

_MAX_FIXES = 5


@dataclass(frozen=True, eq=False)
class _MoveCandidate:
    """A call frame in which the root module can be moved.

    ``name`` is the module's name in this frame, ``value`` the expression that yields it; at least one of them is set.
    ``is_parameter``: the function receives the module, and ``statement`` is the first one that uses it.
    ``is_inside_object``: an object constructed here stores the module. ``is_container``: ``name`` is such an object
    with its own ``to``.
    """

    call_frame: CallFrame
    statement: ast.stmt
    name: str | None
    value: ast.expr | None = None
    is_parameter: bool = False
    is_container: bool = False
    is_inside_object: bool = False


@dataclass(frozen=True, eq=False)
class MovePlan:
    """The planned move of a root module: its name, the expression to report, and the fixes, best first."""

    name: str
    call_frame: CallFrame
    node: ast.AST
    fixes: tuple[Fix, ...]


def plan_move(observations: Observations, mismatch: DeviceMismatch, root: RootModule) -> MovePlan:
    """Return the planned move of a root module; its ``fixes`` are empty if no device expression is in scope."""
    made = root.allocated_at
    if _is_beside_a_move(made.tree, made.stmt):
        return MovePlan(short_text(made.node), made.call_frame, made.node, ())
    if is_configured(root):
        fix = configured_move(mismatch, root)
        name = configured_name(mismatch, root)
        return MovePlan(name, root.allocated_at.call_frame, root.allocated_at.node, (fix,) if fix is not None else ())
    candidates = [
        candidate
        for candidate in _move_candidates(observations, mismatch, root)
        if not inside_module(candidate.call_frame)
    ]
    ranked = sorted(enumerate(candidates), key=lambda pair: (*_rank(observations, mismatch, root, pair[1]), pair[0]))
    edits: dict[Edit, _MoveCandidate] = {}
    if ranked and not any(same_function(point.call_frame, ranked[0][1].call_frame) for point in observations.moves):
        edits.update(dict.fromkeys(move_beside_sibling_modules(observations, mismatch, root), ranked[0][1]))
    for _, candidate in ranked:
        for edit in _edits(observations, mismatch, root, candidate):
            edits.setdefault(edit, candidate)
    ordered = list(edits.items())[:_MAX_FIXES]
    construction = short_text(made.node) if isinstance(made.node, ast.Call) else "a module"
    fixes = tuple(
        Fix(f"move `{candidate.name or construction}`: `{_last_line(edit)}`", (edit,)) for edit, candidate in ordered
    )
    if not fixes and (declaration := declare_device(mismatch, root)) is not None:
        fixes = (declaration,)
    if not fixes and (move := move_to_operand(observations, mismatch, root)) is not None:
        fixes = (move,)
    best = ordered[0][1] if ordered else ranked[0][1] if ranked else None
    name = best.name if best is not None and best.name is not None else construction
    if best is None or best.is_parameter or isinstance(best.statement, (ast.If, ast.Try)):
        return MovePlan(name, root.allocated_at.call_frame, root.allocated_at.node, fixes)
    return MovePlan(name, best.call_frame, best.value or best.statement, fixes)


def _is_beside_a_move(tree: SourceTree, statement: ast.stmt) -> bool:
    """Return whether the other branch moves to the accelerator: there, the program chooses the CPU."""
    inner: ast.AST = statement
    for parent in tree.ancestors(statement):
        if isinstance(parent, ast.If) and parent.orelse and inner is not parent.test:
            own, other = (parent.body, parent.orelse) if inner in parent.body else (parent.orelse, parent.body)
            if calls_cuda(other) and not calls_cuda(own):
                return True
        inner = parent
    return False


def _last_line(edit: Edit) -> str:
    return str(getattr(edit, "code", "")).splitlines()[-1].strip()


# --- call frames ----------------------------------------------------------------------------------------------------
def _move_candidates(
    observations: Observations, mismatch: DeviceMismatch, root: RootModule
) -> Iterator[_MoveCandidate]:
    if root.conditional_move is not None:
        yield from _after_branches(mismatch, root.conditional_move)
    for call_frame in reversed(root.allocated_at.call_stack):
        for name in container_names(mismatch.point, call_frame, root):
            if name in _targets(call_frame.stmt):
                yield _MoveCandidate(call_frame, call_frame.stmt, name, is_container=True)
    yield from _construction_frames(mismatch, root)
    for reference in observations.module_references:
        if reference.module.id in root.chain and isinstance(reference.point.node, ast.Attribute):
            statement = reference.point.stmt
            name = ast.unparse(reference.point.node)
            yield _MoveCandidate(reference.point.call_frame, statement, name, _value(statement, name))
    for call_frame in reversed(mismatch.point.call_stack):
        for name in root_names(mismatch.point, call_frame, root)[:1]:
            first = _first_mention(call_frame, name, "." in name and _is_conditional(root.allocated_at))
            if first is not None and name != "self":  # its method may run before its parts are there
                yield _MoveCandidate(call_frame, first, name, is_parameter=True)


def _construction_frames(mismatch: DeviceMismatch, root: RootModule) -> Iterator[_MoveCandidate]:
    """Yield the call frames of the construction, innermost first."""
    innermost = root.allocated_at.call_stack[-1]
    for call_frame in reversed(root.allocated_at.call_stack):
        names = root_names(mismatch.point, call_frame, root)
        targets = _targets(call_frame.stmt)
        assigned = [name for name in names if name in targets]
        if assigned:
            yield _MoveCandidate(call_frame, call_frame.stmt, assigned[0], _value(call_frame.stmt, assigned[0]))
            continue
        if call_frame is innermost and isinstance(root.allocated_at.node, ast.Call):
            yield _MoveCandidate(call_frame, call_frame.stmt, None, root.allocated_at.node)
        inside = [name for name in names if name.rpartition(".")[0] in targets]
        if inside:
            yield _MoveCandidate(call_frame, call_frame.stmt, inside[0], is_inside_object=True)


def _after_branches(mismatch: DeviceMismatch, moved: ProgramPoint) -> Iterator[_MoveCandidate]:
    """Yield the statement after the branches of a module that is moved on one branch only."""
    call = moved.node
    if not (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("to", *MOVE_METHODS)
    ):
        return  # a wrapper moves its argument: ``nn.DataParallel(model)``
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
        yield _MoveCandidate(moved.call_frame, outermost, name)


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
    """Return the expression assigned to a name; ``None`` if the name is unpacked from a larger value."""
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


def _first_mention(call_frame: CallFrame, name: str, may_be_absent: bool) -> ast.stmt | None:
    """Return the first statement of a function that uses its parameter, or an attribute of one, ``name``.

    An attribute that ``may_be_absent`` exists in the branch that reads it; before the branches, it may not.
    """
    function = call_frame.activation.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or name in assigned_names(function):
        return None
    block = function.body
    while True:
        first = next((statement for statement in block if name in _expressions_in(statement)), None)
        if first is None or not may_be_absent:
            return first
        branches = [part for part in blocks(first) if any(name in _expressions_in(inner) for inner in part)]
        if not branches or name in _header_expressions(first):
            return first
        if len(branches) > 1:
            return None
        block = branches[0]


def _is_conditional(allocated_at: ProgramPoint) -> bool:
    """Return whether a branch of the function constructs the module: another one may leave its attribute unset."""
    for parent in allocated_at.tree.ancestors(allocated_at.stmt):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        if isinstance(parent, ast.If):
            return True
    return False


def _header_expressions(statement: ast.stmt) -> set[str]:
    """Return the names and attributes that a compound statement reads outside its blocks."""
    inside = {id(inner) for block in blocks(statement) for inner in block}
    parts = [child for child in ast.iter_child_nodes(statement) if id(child) not in inside]
    return {
        text
        for part in parts
        if not isinstance(part, (ast.excepthandler, ast.match_case))
        for text in _expressions_in(part)
    }


def _rank(
    observations: Observations, mismatch: DeviceMismatch, root: RootModule, candidate: _MoveCandidate
) -> tuple[bool, bool, bool, bool]:
    siblings = any(
        same_function(point.call_frame, candidate.call_frame)
        for point in observations.moves
        if point is not root.conditional_move
    )
    return (
        candidate.is_parameter,
        not (siblings or candidate.is_container or _is_after_branches(root, candidate)),
        _only_constructs(mismatch, candidate),
        candidate.is_inside_object,
    )


def _is_after_branches(root: RootModule, candidate: _MoveCandidate) -> bool:
    return root.conditional_move is not None and isinstance(candidate.statement, (ast.If, ast.Try))


def _only_constructs(mismatch: DeviceMismatch, candidate: _MoveCandidate) -> bool:
    """Whether a function only constructs and returns the module: then its callers choose the device."""
    function = candidate.call_frame.activation.node
    if (
        not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        or candidate.call_frame.activation.final_locals is None
    ):
        return False
    returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    is_returned = any(value is candidate.value or candidate.name in _expressions_in(value) for value in returns)
    own = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)} | assigned_names(function)
    names = visible(mismatch.point, candidate.call_frame)
    return is_returned and not any(name in names and is_device(name, names[name]) for name in own)


def _expressions_in(node: ast.AST) -> set[str]:
    return {ast.unparse(inner) for inner in ast.walk(node) if isinstance(inner, (ast.Name, ast.Attribute))}


# --- edits ----------------------------------------------------------------------------------------------------------
def _edits(
    observations: Observations, mismatch: DeviceMismatch, root: RootModule, candidate: _MoveCandidate
) -> Iterator[Edit]:
    move_style = module_move_at(
        observations, mismatch, candidate.call_frame, root.conditional_move
    ) or move_for_wrapper(mismatch, candidate.call_frame, root)
    if move_style is None:
        return
    tree = candidate.call_frame.tree
    if candidate.is_parameter:
        assert candidate.name is not None
        if move_style.is_bound_before(candidate.call_frame, candidate.statement):
            yield InsertStatement(
                tree.path, tree.span(candidate.statement), Where.BEFORE, move_style.statement(candidate.name)
            )
        return
    if candidate.name is None:
        if (
            candidate.value is not None
            and move_style.is_unconditional
            and move_style.is_bound_before(candidate.call_frame, candidate.statement)
        ):
            yield AppendCode(tree.path, tree.span(candidate.value), move_style.trailer)
        return
    statement_range = StatementRange(mismatch, root, candidate.call_frame, candidate.statement, candidate.name)
    start = statement_range.start(move_style)
    beside = _beside(observations, mismatch, root, candidate, statement_range, move_style)
    if beside is not None:
        yield beside
    chained = move_style.is_chained or not move_style.is_statement
    if (
        candidate.value is not None
        and move_style.is_unconditional
        and not statement_range.changes
        and (move_style.is_chained or (chained and not statement_range.loads))
        and move_style.is_bound_before(candidate.call_frame, candidate.statement)
        and not isinstance(candidate.value, ast.IfExp)
    ):
        yield AppendCode(tree.path, tree.span(candidate.value), move_style.trailer)
    if start is not None:
        anchor = statement_range.block[start]
        yield InsertStatement(tree.path, tree.span(anchor), Where.AFTER, move_style.statement(candidate.name))
    if (
        isinstance(candidate.value, ast.Call)
        and move_style.is_unconditional
        and move_style.is_bound_before(candidate.call_frame, candidate.statement)
    ):
        yield AppendCode(tree.path, tree.span(candidate.value), move_style.trailer)


def _beside(
    observations: Observations,
    mismatch: DeviceMismatch,
    root: RootModule,
    candidate: _MoveCandidate,
    statement_range: StatementRange,
    move_style: ModuleMove,
) -> Edit | None:
    """Return the edit that inserts the move beside a sibling's move, between the construction and the first use.

    The sibling is the last one constructed before this module, so moves keep the order of constructions.
    """
    assert candidate.name is not None
    start = statement_range.start(move_style, loaded=False)
    best: tuple[int, ProgramPoint] | None = None
    for point in sorted(observations.moves, key=lambda point: point.key):
        if (
            point is root.conditional_move
            or not same_function(point.call_frame, candidate.call_frame)
            or not _is_move_statement(point)
        ):
            continue
        index = statement_range.index_of(point.stmt)
        if index is None or start is None or not start < index < statement_range.limit:
            continue
        if best is None or _constructed_before(mismatch, root, point):
            best = index, point
    if best is None:
        return None
    index, point = best
    move, tree = Move(point), candidate.call_frame.tree
    outer = statement_range.block[index]
    is_inside_guard = outer is point.stmt or (outer is move.guard and len(move.guard.body) > 0)
    sibling_move = ModuleMove(
        move.trailer(), None, move.guard if isinstance(move.guard, ast.IfExp) else None, point, move_style.names
    )
    where = Where.AFTER if _constructed_before(mismatch, root, point) else Where.BEFORE
    if not is_inside_guard:
        return InsertStatement(tree.path, tree.span(outer), where, move_style.statement(candidate.name))
    return InsertStatement(tree.path, tree.span(point.stmt), where, sibling_move.statement(candidate.name))


def _constructed_before(mismatch: DeviceMismatch, root: RootModule, move: ProgramPoint) -> bool:
    """Whether the module that ``move`` moves was constructed before the root module."""
    call, state = move.node, mismatch.point.state
    assert state is not None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return False
    value = value_of(mismatch.point, move.call_frame, call.func.value)
    known = [o for o in alternatives(value) if isinstance(o, Pointer) and state.has(o.id)] if value is not None else []
    constructions = [state.at(option.id).allocated_at for option in known]
    return any(
        allocated_at is not None and allocated_at.time < root.allocated_at.time for allocated_at in constructions
    )


def _is_move_statement(point: ProgramPoint) -> bool:
    """Whether a move is a separate statement, such as ``model.to(device)``, not ``model = Net().to(device)``."""
    call = point.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return False
    return isinstance(call.func.value, (ast.Name, ast.Attribute, ast.Subscript))
