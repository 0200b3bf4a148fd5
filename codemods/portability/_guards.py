"""Code that runs only where CUDA, or another device, is available."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType

from codemods.portability._option_defaults import outcome_by_default
from codemods.portability._refusals import can_be_deleted
from codemods.portability._torch_names import leaves
from devfix.syntax import project_flags
from devfix.syntax.tree import SourceTree, walk

__all__ = ["asks_for_cuda", "is_dropped", "is_guarded", "tries_without"]

_INDEX = re.compile(r"(?:\w*_)?(?:gpus?|devices?|cuda|rank)(?:_ids?)?", re.IGNORECASE)
_LOOKUPS = ("int", "str", "get", "pop", "getenv", "parse_args")  # what they return was given from outside
_CPU = "cpu"
_LOOPS = (ast.For, ast.While)
_GUARD = re.compile(r"cuda|gpu|device|accelerator|nccl|\bhip|is_available|nvml", re.IGNORECASE)


def is_guarded(tree: SourceTree, node: ast.AST, opened: Mapping[ast.expr, bool] = MappingProxyType({})) -> bool:
    """Return whether code depends on a condition on devices, or runs in a ``try`` that goes on without it.

    ``opened`` has tests that any accelerator passes, and whether it runs their ``else``: code there does not depend on
    CUDA.  Neither does what runs if no option is given: ``if args.gpus > 0``, where that is the default.
    """
    if _is_under_condition(tree, node, opened):
        return True
    return any(isinstance(each, ast.stmt) and _left_before(tree, each) for each in (node, *tree.ancestors(node)))


def asks_for_cuda(tree: SourceTree, outer: ast.If | ast.IfExp, inner: ast.AST) -> bool:
    """Return whether a branch runs because the program asks for CUDA, or if no option is given."""
    if inner is outer.test:
        return False
    return _runs_by_default(tree, outer, inner) or (_is_branch(outer.body, inner) and _is_given(tree, outer.test))


def is_dropped(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether a check that ends the program without CUDA goes: no condition or ``try`` is around it."""
    return can_be_deleted(tree, stmt) and not _is_under_condition(tree, stmt, MappingProxyType({}))


def _is_under_condition(tree: SourceTree, node: ast.AST, opened: Mapping[ast.expr, bool]) -> bool:
    inner: ast.AST = node
    for outer in tree.ancestors(node):
        match outer:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if inner is not test:
                is_open = test in opened and not isinstance(outer, ast.While)
                if is_open and _is_branch(outer.orelse if opened[test] else outer.body, inner):
                    inner = outer
                    continue
                is_choice = _runs_by_default(tree, outer, inner) or _needs_cuda_either_way(tree, outer)
                is_move = inner is not test and _is_branch(outer.body, inner) and _holds_without_cuda(test)
                is_choice |= is_move and not _is_in_kernel(tree, outer)
                if _tells_device(tree, test) and not is_choice:
                    return True
            case ast.BoolOp(values=values):
                if any(_tells_device(tree, value) for value in values[: _index(values, inner)]):
                    return True
            case ast.Try(body=body, handlers=[_, *_] as handlers) if isinstance(inner, ast.stmt) and inner in body:
                is_fallback = any(_GUARD.search(tree.source(each)) or _CPU in tree.source(each) for each in handlers)
                if is_fallback or not isinstance(inner, _LOOPS):  # others around a loop are for the end of the work
                    return True
        inner = outer
    return False


def _is_branch(branch: ast.expr | list[ast.stmt], inner: ast.AST) -> bool:
    return inner is branch or (isinstance(branch, list) and inner in branch)


def _is_in_kernel(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether code belongs to a class of ``torch.autograd.Function``: it calls a kernel for CUDA."""
    owners = (outer for outer in tree.ancestors(node) if isinstance(outer, ast.ClassDef))
    return any(ast.unparse(base).rpartition(".")[2] == "Function" for owner in owners for base in owner.bases)


def _holds_without_cuda(test: ast.expr) -> bool:
    """Return whether a test holds on every machine without CUDA: ``not x.is_cuda``, what is there is moved to it."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(_holds_without_cuda, values))
        case ast.BoolOp(values=values):
            return all(map(_holds_without_cuda, values))
        case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute(attr="is_cuda")):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="isinstance"), args=[_, kind])):
            return "cuda" in ast.unparse(kind)
    return False


def _runs_by_default(tree: SourceTree, outer: ast.If | ast.IfExp | ast.While, inner: ast.AST) -> bool:
    """Return whether a branch is the one that runs if no option is given."""
    outcome = outcome_by_default(tree, outer.test)
    if outcome is None:
        return False
    return _is_branch(outer.body if outcome else outer.orelse, inner)


def _needs_cuda_either_way(tree: SourceTree, outer: ast.If | ast.IfExp | ast.While) -> bool:
    """Return whether both branches move values to CUDA: the test asks how, not whether there is any.

    ``if num_gpu > 1: net = DataParallel(net).cuda()``, and ``net = net.cuda()`` otherwise.
    """
    if not isinstance(outer, ast.If) or not outer.orelse or _asks(tree, outer.test):
        return False
    if not tree.derived(_device_flags).isdisjoint(_names_in(outer.test)):
        return False
    return all(
        any(_moves_to_cuda(node) for stmt in block for node in walk(stmt)) for block in (outer.body, outer.orelse)
    )


def _moves_to_cuda(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"


def _index(values: list[ast.expr], inner: ast.AST) -> int:
    return next((index for index, value in enumerate(values) if value is inner), len(values))


def _tells_device(tree: SourceTree, test: ast.expr) -> bool:
    """Return whether a condition is about devices, by its words or by those of what its names are assigned."""
    if _is_choice_of_index(tree, test) or _is_given(tree, test) or _is_always_true(tree, test):
        return False
    if _compares_device_with_str(test):
        return False
    if _GUARD.search(tree.source(test)):
        return True
    return not tree.derived(_device_flags).isdisjoint(_names_in(test))


def _compares_device_with_str(test: ast.expr) -> bool:
    """Return whether a test compares a device object with a string, which are never equal: ``if device != "cpu":``.

    https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device
    """
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str())]):
            return name in project_flags.current().objects
    return False


def _is_always_true(tree: SourceTree, test: ast.expr) -> bool:
    """Return whether a test is of a name that is bound to devices only: ``if device:``."""
    if not isinstance(test, ast.Name):
        return False
    stored = [node for node in tree.nodes if isinstance(node, ast.Name) and node.id == test.id and _is_stored(node)]
    values = [tree.parents[node] for node in stored]
    is_parameter = any(isinstance(node, ast.arg) and node.arg == test.id for node in tree.nodes)
    return bool(values) and not is_parameter and all(isinstance(v, ast.Assign) and _is_device(v.value) for v in values)


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _is_device(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=str(name)):
            return bool(name)
        case ast.IfExp(body=one, orelse=other):
            return _is_device(one) and _is_device(other)
        case ast.Call(func=ast.Attribute(attr="device")):
            return True
    return False


def _is_given(tree: SourceTree, test: ast.expr) -> bool:
    """Return whether a test is of flags for CUDA that the program itself turns on, and no machine answers.

    ``if config["gpu"]:``, where a file has ``config = {"gpu": True}``, and ``if not config["no_cuda"]:``.
    """
    answers = project_flags.current().answers
    around = [*tree.ancestors(test)]
    if answers.may_decide(test, around) or outcome_by_default(tree, test) is not None:
        return False
    denied = {node for each in walk(test) if _is_denial(each) for node in walk(each)}
    flags = [node for node in walk(test) if _is_flag(node)]
    return bool(flags) and all(answers.is_given(node, around, off=node in denied) for node in flags)


def _is_denial(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_flag(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return "gpu" in name.lower() or "cuda" in name.lower()
    return False


def _is_choice_of_index(tree: SourceTree, test: ast.expr) -> bool:
    """Return whether a test is ``args.gpu is not None``: it asks whether one is chosen, not whether there is one.

    If a query or a function, which may ask, decides what the name is, it does ask whether there is one.
    """
    match test:
        case ast.Compare(
            left=(ast.Name() | ast.Attribute()) as left, ops=[ast.Is() | ast.IsNot()], comparators=[right]
        ):
            name = left.attr if isinstance(left, ast.Attribute) else left.id
            is_none = isinstance(right, ast.Constant) and right.value is None
            decided = tree.derived(_device_flags) | tree.derived(_from_functions)
            return is_none and bool(_INDEX.fullmatch(name)) and name not in decided
    return False


def _names_in(node: ast.AST) -> set[str]:
    return {
        each.attr if isinstance(each, ast.Attribute) else each.id
        for each in walk(node)
        if isinstance(each, (ast.Name, ast.Attribute))
    }


def _device_flags(tree: SourceTree) -> frozenset[str]:
    """Return the names and attributes that a query for an accelerator, or for where a value is, decides."""
    found: set[str] = set()
    for node in tree.nodes:
        if isinstance(node, ast.Assign):
            conditions = [outer.test for outer in tree.ancestors(node) if isinstance(outer, ast.If)]
            if any(_asks(tree, each) for each in (node.value, *conditions)):
                found.update(name for target in node.targets for name in _stored(target))
    return frozenset(found)


def _from_functions(tree: SourceTree) -> frozenset[str]:
    """Return the names and attributes that are assigned what a function returns: it may ask for an accelerator."""
    found: set[str] = set()
    for node in tree.nodes:
        match node:
            case ast.Assign(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))) if name not in _LOOKUPS:
                found.update(each for target in node.targets for each in _stored(target))
    return frozenset(found)


def _stored(target: ast.expr) -> list[str]:
    """Return the names and attributes that a target binds: ``cuda`` of ``args.cuda``."""
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return [name]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return [name for each in elts for name in _stored(each)]
    return []


def _asks(tree: SourceTree, node: ast.expr) -> bool:
    text = tree.source(node)
    return "is_available" in text or "is_cuda" in text


def _left_before(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether an earlier statement of the block leaves it on a condition on devices."""
    try:
        _, block, index = tree.block(stmt)
    except LookupError:
        return False
    return any(_leaves_without(tree, earlier) and not is_dropped(tree, earlier) for earlier in block[:index])


def _leaves_without(tree: SourceTree, stmt: ast.stmt) -> bool:
    if isinstance(stmt, ast.Assert):
        return _tells_device(tree, stmt.test)
    if not isinstance(stmt, ast.If) or not leaves(stmt.body[-1]):
        return False
    return _tells_device(tree, stmt.test) and outcome_by_default(tree, stmt.test) is not False


def tries_without(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether a file goes on if an import fails: it is in a ``try``, a condition or a function."""
    return any(isinstance(outer, (ast.Try, ast.If, ast.FunctionDef, ast.Lambda)) for outer in tree.ancestors(node))
