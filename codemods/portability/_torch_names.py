"""Names of PyTorch in a file: what its imports bind, and which code runs with CUDA only."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from codemods.portability._option_defaults import outcome_by_default
from devfix.syntax.tree import SourceTree, walk

__all__ = [
    "imported_names",
    "indentation",
    "is_guarded",
    "leaves",
    "must_ask_late",
    "named",
    "own_names",
    "replaced_names",
    "stands_alone",
    "tries_without",
]

_GUARD = re.compile(r"cuda|gpu|device|accelerator|nccl|\bhip|is_available|nvml", re.IGNORECASE)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EXITS = ("exit", "quit", "sys.exit", "os._exit")


@dataclass(frozen=True)
class _Names:
    imported: dict[str, str]  # name → what the file's imports bind it to
    bound: dict[str, int]  # name → how often it is bound, in any scope


def _names(tree: SourceTree) -> _Names:
    imported: dict[str, set[str]] = {}
    bound: dict[str, int] = {}
    for node in tree.nodes:
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    name = alias.asname or alias.name.partition(".")[0]
                    imported.setdefault(name, set()).add(alias.name if alias.asname else name)
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                for alias in aliases:
                    imported.setdefault(alias.asname or alias.name, set()).add(f"{module}.{alias.name}")
            case ast.ImportFrom(names=aliases):
                for alias in aliases:
                    imported.setdefault(alias.asname or alias.name, set()).add("")
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                bound[name] = bound.get(name, 0) + 1
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound[name] = bound.get(name, 0) + 1
            case ast.ExceptHandler(name=str(name)):
                bound[name] = bound.get(name, 0) + 1
    only = {name: next(iter(found)) for name, found in imported.items() if len(found) == 1 and name not in bound}
    return _Names({name: full for name, full in only.items() if full}, bound)


def own_names(tree: SourceTree) -> dict[str, str]:
    """Return the names that a file binds only by imports, and their full names: ``dist`` → ``torch.distributed``."""
    return tree.derived(_names).imported


def imported_names(tree: SourceTree) -> frozenset[str]:
    """Return every name that an import of a file binds, also one that something else binds, too."""
    return tree.derived(_find_imported)


def _find_imported(tree: SourceTree) -> frozenset[str]:
    imports = (node for node in tree.nodes if isinstance(node, (ast.Import, ast.ImportFrom)))
    return frozenset((alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names)


def replaced_names(tree: SourceTree) -> dict[str, int]:
    """Return the names that a file binds in other ways than by imports, and how often."""
    return tree.derived(_names).bound


def must_ask_late(tree: SourceTree) -> bool:
    """Return whether a query for CUDA when a file starts may be too early: before it selects devices, or forks."""
    text = tree.text
    return "CUDA_VISIBLE_DEVICES" in text or ("multiprocessing" in text and "spawn" not in text)


def named(tree: SourceTree, node: ast.AST) -> str:
    """Return the full name of a function or class that a name or a chain of attributes means; empty if unknown."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in own_names(tree):
        return ""
    return ".".join([own_names(tree)[node.id], *reversed(parts)])


def is_guarded(tree: SourceTree, node: ast.AST, opened: Mapping[ast.expr, bool] = MappingProxyType({})) -> bool:
    """Return whether code depends on a condition on devices, or runs in a ``try`` that goes on without it.

    ``opened`` has tests that any accelerator passes, and whether it runs their ``else``: code there does not depend on
    CUDA.  Neither does what runs if no option is given: ``if args.gpus > 0``, where that is the default.
    """
    inner: ast.AST = node
    for outer in tree.ancestors(node):
        match outer:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if inner is not test:
                if test in opened and not isinstance(outer, ast.While):
                    branch = outer.orelse if opened[test] else outer.body
                    if inner is branch or (isinstance(branch, list) and inner in branch):
                        inner = outer
                        continue
                if _tells_device(tree, test) and not _runs_by_default(tree, outer, inner):
                    return True
            case ast.BoolOp(values=values):
                if any(_tells_device(tree, value) for value in values[: _index(values, inner)]):
                    return True
            case ast.Try(body=body, handlers=[_, *_]) if isinstance(inner, ast.stmt) and inner in body:
                return True
        if isinstance(inner, ast.stmt) and _left_before(tree, inner):
            return True
        inner = outer
    return isinstance(inner, ast.stmt) and _left_before(tree, inner)


def _runs_by_default(tree: SourceTree, outer: ast.If | ast.IfExp | ast.While, inner: ast.AST) -> bool:
    """Return whether a branch is the one that runs if no option is given."""
    outcome = outcome_by_default(tree, outer.test)
    if outcome is None:
        return False
    chosen = outer.body if outcome else outer.orelse
    return inner is chosen or (isinstance(chosen, list) and inner in chosen)


def _index(values: list[ast.expr], inner: ast.AST) -> int:
    return next((index for index, value in enumerate(values) if value is inner), len(values))


def _tells_device(tree: SourceTree, test: ast.expr) -> bool:
    """Return whether a condition is about devices, by its words or by those of what its names are assigned."""
    if _is_comparison_with_none(test):
        return False
    if _GUARD.search(tree.source(test)):
        return True
    names = {each.id for each in walk(test) if isinstance(each, ast.Name)}
    return bool(names & tree.derived(_device_flags))


def _is_comparison_with_none(test: ast.expr) -> bool:
    """Return whether a test is ``args.gpu is not None``: it asks whether one is chosen, not whether there is one."""
    match test:
        case ast.Compare(left=ast.Name() | ast.Attribute(), ops=[ast.Is() | ast.IsNot()], comparators=[right]):
            return isinstance(right, ast.Constant) and right.value is None
    return False


def _device_flags(tree: SourceTree) -> frozenset[str]:
    """Return the names that are assigned from a query for an accelerator, or for where a value is."""
    return frozenset(
        target.id
        for node in tree.nodes
        if isinstance(node, ast.Assign) and any(word in tree.source(node.value) for word in ("is_available", "is_cuda"))
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def _left_before(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether an earlier statement of the block leaves it on a condition on devices."""
    try:
        _, block, index = tree.block(stmt)
    except LookupError:
        return False
    return any(_leaves_without(tree, earlier) for earlier in block[:index])


def _leaves_without(tree: SourceTree, stmt: ast.stmt) -> bool:
    if isinstance(stmt, ast.Assert):
        return _tells_device(tree, stmt.test)
    if not isinstance(stmt, ast.If) or not leaves(stmt.body[-1]):
        return False
    return _tells_device(tree, stmt.test) and outcome_by_default(tree, stmt.test) is not False


def leaves(stmt: ast.stmt) -> bool:
    """Return whether a statement ends its block: ``return``, ``raise``, ``sys.exit()``."""
    if isinstance(stmt, _LEAVES):
        return True
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and ast.unparse(stmt.value.func) in _EXITS


def tries_without(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether a file goes on if an import fails: it is in a ``try``, a condition or a function."""
    return any(isinstance(outer, (ast.Try, ast.If, ast.FunctionDef, ast.Lambda)) for outer in tree.ancestors(node))


def stands_alone(tree: SourceTree, stmt: ast.stmt) -> bool:
    """Return whether a statement has its lines for itself: no semicolon, no colon before it."""
    span = tree.span(stmt)
    before = tree.lines[span.line - 1][: span.column]
    after = tree.lines[span.end_line - 1][span.end_column :].strip()
    return not before.strip() and (not after or after.startswith("#"))


def indentation(tree: SourceTree) -> str:
    """Return one level of a file's indentation."""
    for node in tree.nodes:
        if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.With, ast.ClassDef)):
            outer, inner = (tree.lines[each.lineno - 1] for each in (node, node.body[0]))
            unit = _leading(inner)[len(_leading(outer)) :]
            if unit and node.body[0].lineno > node.lineno:
                return unit
    return "    "


def _leading(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
