"""What a node is, and how a call is rewritten: shared by the operators of all families."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.repair.mutations import Replacement
from devfix.syntax.tree import SourceTree

__all__ = [
    "FACTORIES",
    "LOOPS",
    "Sites",
    "assigned_back",
    "calls",
    "constructs",
    "device_in_reach",
    "function_name",
    "inside",
    "is_move",
    "keyword",
    "knows_torch",
    "moved",
    "moves",
    "name",
    "with_keyword",
    "without",
    "without_keyword",
]

Sites = Iterator[tuple[ast.AST, list[Replacement]]]

FACTORIES = frozenset(
    "zeros ones full empty arange linspace tensor as_tensor eye rand randn randint randperm normal".split()
)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def calls(tree: SourceTree, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree.tree):
        if isinstance(node, ast.Call) and name(node) in names:
            yield node


def name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((keyword for keyword in call.keywords if keyword.arg == name), None)


def is_move(node: ast.AST) -> bool:
    """``x.to(device)``, ``x.to(other)``, ``x.cuda()``; not ``x.to(torch.float16)`` and not ``x.to("cpu")``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr == "cuda":
        return True
    if node.func.attr != "to" or not (node.args or keyword(node, "device")):
        return False
    text = ast.unparse(node.args[0]) if node.args else ""
    return not any(word in text for word in ("float", "int", "half", "long", "dtype", "cpu", "double"))


def moves(tree: SourceTree) -> Iterator[ast.Call]:
    for node in ast.walk(tree.tree):
        if isinstance(node, ast.Call) and is_move(node):
            yield node


def moved(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def assigned_back(tree: SourceTree, call: ast.Call) -> bool:
    """``x = x.to(device)``."""
    parent = tree.parents[call]
    return (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and ast.unparse(parent.targets[0]) == ast.unparse(moved(call))
    )


def constructs(node: ast.expr) -> bool:
    """``Net(...)`` or ``nn.Linear(...)``: a call of something with a capital letter."""
    return isinstance(node, ast.Call) and name(node)[:1].isupper()


def inside(tree: SourceTree, node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    for parent in tree.ancestors(node):
        if isinstance(parent, kinds):
            return True
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return False
    return False


def function_name(tree: SourceTree, node: ast.AST) -> str:
    return getattr(tree.function(node), "name", "")


def without(tree: SourceTree, call: ast.Call) -> list[Replacement]:
    """``x.method(...)`` becomes ``x``."""
    return [(tree.span(call), tree.source(moved(call)))]


def without_keyword(tree: SourceTree, call: ast.Call, name: str) -> list[Replacement]:
    kept = [tree.source(argument) for argument in call.args]
    kept += [tree.source(keyword) for keyword in call.keywords if keyword.arg != name]
    return [(tree.span(call), f"{tree.source(call.func)}({', '.join(kept)})")]


def with_keyword(tree: SourceTree, call: ast.Call, name: str, value: str) -> list[Replacement]:
    kept = [tree.source(argument) for argument in call.args]
    kept += [tree.source(keyword) for keyword in call.keywords if keyword.arg != name]
    return [(tree.span(call), f"{tree.source(call.func)}({', '.join([*kept, f'{name}={value}'])})")]


def device_in_reach(tree: SourceTree, node: ast.expr | ast.stmt) -> str | None:
    """``device`` where the function has an argument of that name, or the file a variable."""
    function = tree.function(node)
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        names = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)]
        if "device" in names:
            return "device"
    for statement in tree.tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "device":
            return "device" if statement.lineno < node.lineno else None
    return None


def knows_torch(tree: SourceTree) -> bool:
    """Whether the file says ``import torch``."""
    imports = [alias for node in ast.walk(tree.tree) if isinstance(node, ast.Import) for alias in node.names]
    return any(alias.name == "torch" and alias.asname is None for alias in imports)
