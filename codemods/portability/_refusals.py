"""Checks that end a program without CUDA."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from codemods.portability._cuda_api import CUDA_OBJECTS, EXTENSION_LOADERS, is_feature, without_equivalent
from codemods.portability._option_defaults import outcome_by_default
from codemods.portability._torch_names import (
    imported_names,
    leaves,
    named,
    prints,
    replaced_names,
    selects_device_of_block,
)
from devfix.syntax import project_flags
from devfix.syntax.tree import SourceTree, walk

__all__ = ["can_be_deleted", "other_conditions", "refusals"]

_ANY = ((ast.Gt, 0), (ast.GtE, 1), (ast.NotEq, 0))  # comparisons of a number of accelerators: is there any?
_NONE = ((ast.Eq, 0), (ast.LtE, 0), (ast.Lt, 1))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def refusals(tree: SourceTree) -> Iterator[ast.stmt]:
    """Yield the statements that end a program without CUDA: ``assert``, ``raise`` and ``sys.exit``."""
    return (node for node in tree.nodes if isinstance(node, ast.stmt) and _refuses(tree, node))


def can_be_deleted(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether a statement is such a check that nothing relies on, in a file that can do without CUDA.

    It stays if the file catches what it raises, or has something that no other device has.
    """
    return (
        _refuses(tree, stmt)
        and not tree.derived(_has_no_equivalent)
        and not _is_caught(tree, stmt)
        and project_flags.current().tried.isdisjoint(_callers(tree, stmt))
        and not tree.source(stmt).startswith("elif")
        and not (isinstance(stmt, ast.If) and "#" in tree.source(stmt))
    )


def _has_no_equivalent(tree: SourceTree) -> bool:
    packages = without_equivalent()[0]
    for node in tree.nodes:
        match node:
            case ast.Import(names=aliases):
                if any(alias.name.partition(".")[0] in packages for alias in aliases):
                    return True
            case ast.ImportFrom(module=str(module), level=0):
                if module.partition(".")[0] in packages:
                    return True
            case ast.Attribute() | ast.Name():
                name = named(tree, node)
                if selects_device_of_block(tree, tree.parents[node]):
                    continue  # this can be ported
                if name in CUDA_OBJECTS or name in EXTENSION_LOADERS or is_feature(name):
                    return True
    return False


def _is_caught(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether the file has a handler for the exception of a check.

    A handler for every exception counts if the program goes on after it, and its ``try`` calls what has the check.
    """
    raised = {"AssertionError"} if isinstance(stmt, ast.Assert) else {"SystemExit"}
    for node in walk(stmt):
        if isinstance(node, ast.Raise) and node.exc is not None:
            made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            raised = {ast.unparse(made).rpartition(".")[2]}
    everything = {"BaseException"} if raised <= {"SystemExit"} else {"BaseException", "Exception"}
    for node in tree.nodes:
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                kinds = _kinds(handler)
                if not kinds.isdisjoint(raised):
                    return True
                goes_on = not leaves(handler.body[-1])
                if not kinds.isdisjoint(everything) and goes_on and _calls_any(node.body, _callers(tree, stmt)):
                    return True
    return False


def _kinds(handler: ast.ExceptHandler) -> set[str]:
    """Return the names of the exceptions that a handler catches; a bare ``except`` catches ``BaseException``."""
    match handler.type:
        case None:
            return {"BaseException"}
        case ast.Tuple(elts=elts):
            return {ast.unparse(each).rpartition(".")[2] for each in elts}
        case kind:
            return {ast.unparse(kind).rpartition(".")[2]}


def _callers(tree: SourceTree, stmt: ast.stmt) -> set[str]:
    """Return the names of the functions and classes of the file that have a statement, or call what has it."""
    definitions = [node for node in tree.nodes if isinstance(node, _DEFINITIONS)]
    found = {outer.name for outer in tree.ancestors(stmt) if isinstance(outer, _DEFINITIONS)}
    while found:
        more = {each.name for each in definitions if each.name not in found and _calls_any(each.body, found)}
        if not more:
            break
        found |= more
    return found


def _calls_any(block: list[ast.stmt], names: set[str]) -> bool:
    calls = (node.func for stmt in block for node in walk(stmt) if isinstance(node, ast.Call))
    return any((func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in names for func in calls)


def _refuses(tree: SourceTree, stmt: ast.stmt) -> bool:
    match stmt:
        case ast.Assert(test=ast.BoolOp(op=ast.Or(), values=[ast.UnaryOp(op=ast.Not(), operand=flag), test])):
            return _asks(tree, test) and outcome_by_default(tree, flag) is True
        case ast.Assert(test=test):
            return _asks(tree, test) or (_asks_of_values(test) and _computes_anywhere(tree, stmt))
        case ast.If(test=test, body=[*before, last], orelse=[]):
            return _ends(last) and all(map(_is_told, before)) and _is_missing(tree, test)
    return False


def _is_missing(tree: SourceTree, test: ast.expr) -> bool:
    """Return whether a test asks if CUDA is missing, perhaps with an option or flag that asks for it by default."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=query):
            return _asks(tree, query)
        case ast.Compare(left=count, ops=[op], comparators=[ast.Constant(value=int(number))]):
            return (type(op), number) in _NONE and _is_count(tree, count)
        case ast.BoolOp(op=ast.And(), values=[flag, ast.UnaryOp(op=ast.Not(), operand=query)]):
            return _asks(tree, query) and outcome_by_default(tree, flag) is True
    return False


def _is_told(stmt: ast.stmt) -> bool:
    """Return whether a statement only tells why."""
    if not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Call):
        return False
    return prints(stmt.value)


def _ends(stmt: ast.stmt) -> bool:
    """Return whether a statement ends the program, and does nothing else: no test is skipped, and nothing is called."""
    match stmt:
        case ast.Raise(exc=exc):
            return exc is None or "skip" not in ast.unparse(exc).lower()
        case ast.Expr(value=ast.Call(args=args)) if leaves(stmt):
            return all(isinstance(each, (ast.Constant, ast.JoinedStr, ast.UnaryOp)) for each in args)
    return False


def _asks(tree: SourceTree, test: ast.expr) -> bool:
    """Return whether a test asks if there is an accelerator, perhaps by the number of them."""
    match test:
        case ast.Compare(left=count, ops=[op], comparators=[ast.Constant(value=int(number))]):
            return (type(op), number) in _ANY and _is_count(tree, count)
    return _is_count(tree, test) or (isinstance(test, ast.Call) and named(tree, test.func) == "torch.cuda.is_available")


def _is_count(tree: SourceTree, node: ast.expr) -> bool:
    """Return whether an expression is the number of accelerators, or a name that the file binds to it once."""
    return _counts(tree, node) or (isinstance(node, ast.Name) and node.id in tree.derived(_names_of_counts))


def _counts(tree: SourceTree, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and named(tree, node.func) == "torch.cuda.device_count"


def _names_of_counts(tree: SourceTree) -> frozenset[str]:
    return frozenset(
        node.targets[0].id
        for node in tree.nodes
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and _counts(tree, node.value)
        and replaced_names(tree).get(node.targets[0].id) == 1
    )


# --- where a value is -----------------------------------------------------------------------------------------------
def other_conditions(test: ast.expr) -> list[ast.expr]:
    """Return what else than where values are an assertion requires: ``isinstance(x, torch.Tensor) and x.is_cuda``."""
    return [value for value in _conditions(test) if not _is_on_accelerator(value)]


def _conditions(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _asks_of_values(test: ast.expr) -> bool:
    """Return whether a test asks if values are on an accelerator, perhaps also of what type, and does no more."""
    others = other_conditions(test)
    is_asked = len(others) < len(_conditions(test))
    return is_asked and all(map(_asks_for_type, others)) and not any(map(_acts, _conditions(test)))


def _asks_for_type(test: ast.expr) -> bool:
    return isinstance(test, ast.Call) and ast.unparse(test.func) == "isinstance"


def _acts(test: ast.expr) -> bool:
    """Return whether a test does something: it calls anything but ``isinstance``, or binds a name."""
    acting = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return any(isinstance(node, acting) and not (node is test and _asks_for_type(test)) for node in walk(test))


def _is_on_accelerator(test: ast.expr) -> bool:
    match test:
        case ast.Attribute(attr="is_cuda"):
            return True
        case ast.Compare(left=ast.Attribute(value=ast.Attribute(attr="device"), attr="type"), ops=[ast.Eq()]):
            return ast.unparse(test.comparators[0]) == "'cuda'"
    return False


def _computes_anywhere(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether the function of a statement calls only what runs on every device, no kernel or extension."""
    function = next((outer for outer in tree.ancestors(stmt) if isinstance(outer, ast.FunctionDef)), None)
    if function is None:
        return False
    calls = [node for node in walk(function) if isinstance(node, ast.Call)]
    return all(_runs_anywhere(tree, call.func) for call in calls)


def _runs_anywhere(tree: SourceTree, func: ast.expr) -> bool:
    name = named(tree, func)
    if name:
        return name.startswith("torch.") and not name.startswith("torch.cuda.") and not name.endswith(".apply")
    root = func
    while isinstance(root, (ast.Attribute, ast.Call, ast.Subscript)):
        root = root.func if isinstance(root, ast.Call) else root.value
    if isinstance(func, ast.Name):
        return func.id in vars(builtins)
    is_foreign = isinstance(root, ast.Name) and root.id in imported_names(tree)
    return isinstance(func, ast.Attribute) and func.attr != "apply" and not is_foreign
