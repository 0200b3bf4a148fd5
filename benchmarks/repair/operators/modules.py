"""Models and optimizers: what they hold, and when they move."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.repair.mutations import Replacement, added_line, moved_line, operator
from benchmarks.repair.operators._sites import (
    FACTORIES,
    LOOPS,
    Sites,
    assigned_back,
    calls,
    constructs,
    device_in_reach,
    inside,
    is_move,
    keyword,
    knows_torch,
    moved,
    moves,
    name,
    without,
    without_keyword,
)
from devfix.syntax.tree import SourceTree

__all__ = ["OPERATORS"]


def _plain_attribute(tree: SourceTree) -> Sites:
    """``self.register_buffer("mask", value)`` becomes ``self.mask = value``."""
    for call in calls(tree, "register_buffer"):
        named = len(call.args) >= 2 and isinstance(call.args[0], ast.Constant)
        if named and isinstance(tree.parents[call], ast.Expr) and isinstance(call.func, ast.Attribute):
            name, value = call.args[0], call.args[1]
            assert isinstance(name, ast.Constant)
            yield call, [(tree.span(call), f"{tree.source(call.func.value)}.{name.value!s} = {tree.source(value)}")]


def _plain_container(tree: SourceTree) -> Sites:
    """``nn.ModuleList([...])`` becomes ``[...]``, ``nn.ModuleDict({...})`` becomes ``{...}``."""
    for call in calls(tree, "ModuleList", "ModuleDict", "ParameterList"):
        if isinstance(tree.parents[call], ast.Attribute):
            continue  # nobody calls a method of nn.Module on a list
        if len(call.args) == 1 and isinstance(call.args[0], (ast.List, ast.Dict, ast.ListComp, ast.DictComp)):
            yield call, [(tree.span(call), tree.source(call.args[0]))]
        elif not call.args and not call.keywords:
            yield call, [(tree.span(call), "{}" if name(call) == "ModuleDict" else "[]")]


def _moved_leaf(tree: SourceTree) -> Sites:
    """``nn.Parameter(x)`` becomes ``nn.Parameter(x).to(device)``, and so with ``requires_grad=True``."""
    for call in calls(tree, "Parameter"):
        device = device_in_reach(tree, call)
        if device:
            yield call, [(tree.span(call), f"{tree.source(call)}.to({device})")]
    for call in calls(tree, *FACTORIES):
        given, learns = keyword(call, "device"), keyword(call, "requires_grad")
        if given is not None and learns is not None:
            [(span, code)] = without_keyword(tree, call, "device")
            yield call, [(span, f"{code}.to({tree.source(given.value)})")]
    for call in calls(tree, "requires_grad_"):
        inner = moved(call)
        if is_move(inner) and not call.args:
            assert isinstance(inner, ast.Call)
            arguments = tree.source(inner)[len(tree.source(inner.func)) :]
            code = f"{tree.source(moved(inner))}.requires_grad_().{name(inner)}{arguments}"
            yield call, [(tree.span(call), code)]


def _hoisted_move(tree: SourceTree) -> Sites:
    """``model.to(device)`` goes up to directly behind the construction, ahead of what changes the model."""
    for call in moves(tree):
        statement = tree.statement(call)
        whole = isinstance(tree.parents[call], ast.Expr) or assigned_back(tree, call)
        if not whole or inside(tree, call, LOOPS):
            continue
        _, block, index = tree.block(statement)
        name = ast.unparse(moved(call))
        made = [n for n, other in enumerate(block[:index]) if _binds(other, name)]
        named = {inner.id for part in _given(call) for inner in ast.walk(part) if isinstance(inner, ast.Name)}
        late = any(_binds(other, text) for n in made[-1:] for other in block[n + 1 : index] for text in named)
        if made and made[-1] < index - 1 and not late:
            changes = moved_line(tree, statement, block[made[-1]])
            if changes is not None:
                yield call, changes


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _binds(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and any(ast.unparse(target) == name for target in statement.targets)


_OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adamax", "NAdam", "RAdam", "Adadelta")


def _late_move(tree: SourceTree) -> Sites:
    """The move goes behind the construction of an optimizer that makes its state there (Adagrad)."""
    for statement, built, call in _moves_ahead_of_optimizers(tree):
        changes = moved_line(tree, statement, built)
        if changes is not None:
            yield call, changes


def _with_adagrad(tree: SourceTree, call: ast.AST) -> list[Replacement]:
    """The same program with an optimizer that makes its state when it is built."""
    assert isinstance(call, ast.Call)
    if name(call) == "Adagrad":
        return []
    rate = keyword(call, "lr")
    arguments = [tree.source(call.args[0]), *([tree.source(rate)] if rate is not None else [])]
    owner = tree.source(moved(call)) if isinstance(call.func, ast.Attribute) else "torch.optim"
    return [(tree.span(call), f"{owner}.Adagrad({', '.join(arguments)})")]


def _moves_ahead_of_optimizers(tree: SourceTree) -> Iterator[tuple[ast.stmt, ast.stmt, ast.Call]]:
    for call in calls(tree, *_OPTIMIZERS):
        built = tree.statement(call)
        if not isinstance(built, ast.Assign) or built.value is not call or not call.args:
            continue
        _, block, index = tree.block(built)
        read = {ast.unparse(node) for node in ast.walk(call.args[0])}
        for statement in block[:index]:
            move = getattr(statement, "value", None)
            if isinstance(statement, (ast.Expr, ast.Assign)) and move is not None and is_move(move):
                back = isinstance(statement, ast.Expr) or assigned_back(tree, move)
                if back and ast.unparse(moved(move)) in read:
                    yield statement, built, call


def _state_before_move(tree: SourceTree) -> Sites:
    """The move goes behind ``optimizer.load_state_dict(...)``, or behind the ``if`` around it."""
    for call in calls(tree, "load_state_dict"):
        if "optim" not in ast.unparse(moved(call)):
            continue
        loaded = tree.statement(call)
        holders = (loaded, *(node for node in tree.ancestors(loaded) if isinstance(node, ast.If)))
        found = next(filter(None, (_moved_behind(tree, holder) for holder in holders)), None)
        if found:
            yield call, found


def _moved_behind(tree: SourceTree, holder: ast.stmt) -> list[Replacement] | None:
    """Replacements that put the last move of a whole in a statement's block behind that statement."""
    _, block, index = tree.block(holder)
    for statement in reversed(block[:index]):
        move = getattr(statement, "value", None)
        if not isinstance(move, ast.Call) or not is_move(move):
            continue
        if _moves_in_place(tree, statement, move):
            return moved_line(tree, statement, holder)
        if constructs(moved(move)) and isinstance(statement, ast.Assign):
            source = tree.source(move)
            after = source[len(tree.source(moved(move))) :]
            line = f"{ast.unparse(statement.targets[0])}{after}"
            return [*without(tree, move), *added_line(tree, holder, line)]
    return None


def _moves_in_place(tree: SourceTree, statement: ast.stmt, move: ast.Call) -> bool:
    return isinstance(statement, ast.Expr) or assigned_back(tree, move)


def _wrong_ids(tree: SourceTree) -> Sites:
    """``DataParallel(model, device_ids=[0])`` becomes ``DataParallel(model, device_ids=[1])``."""
    for call in calls(tree, *_WRAPPERS):
        given = keyword(call, "device_ids")
        if given is not None:
            yield call, [(tree.span(given.value), "[1]")]
    for call in moves(tree):
        whole = _whole(tree, call)
        if whole is not None:
            yield call, added_line(tree, tree.statement(call), _WRAPPED.format(whole, "[1]"))


def _with_wrapper(tree: SourceTree, call: ast.AST) -> list[Replacement]:
    """The same program with its model in ``DataParallel``."""
    assert isinstance(call, ast.Call)
    whole = _whole(tree, call)
    return [] if whole is None else added_line(tree, tree.statement(call), _WRAPPED.format(whole, "[0]"))


_WRAPPED = "{0} = torch.nn.DataParallel({0}, device_ids={1})"


def _whole(tree: SourceTree, call: ast.Call) -> str | None:
    """The name of what ``model.to(device)`` or ``model = Net().to(device)`` moves, outside loops."""
    parent = tree.parents[call]
    if not is_move(call) or inside(tree, call, LOOPS) or not knows_torch(tree):
        return None
    if isinstance(parent, ast.Expr) and isinstance(moved(call), ast.Name):
        return ast.unparse(moved(call))
    made = isinstance(parent, ast.Assign) and constructs(moved(call)) and isinstance(parent.targets[0], ast.Name)
    return ast.unparse(parent.targets[0]) if made and isinstance(parent, ast.Assign) else None


_WRAPPERS = ("DataParallel", "DistributedDataParallel", "DDP")


OPERATORS = (
    operator("plain-attribute", _plain_attribute),
    operator("plain-container", _plain_container),
    operator("moved-leaf", _moved_leaf),
    operator("hoisted-move", _hoisted_move),
    operator("late-move", _late_move, _with_adagrad),
    operator("state-before-move", _state_before_move),
    operator("wrong-ids", _wrong_ids, _with_wrapper),
)
