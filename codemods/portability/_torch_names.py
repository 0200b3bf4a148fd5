"""Names of PyTorch in a file: what its imports bind, and other facts about its text."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import PurePath

from devfix.syntax import project_flags
from devfix.syntax.tree import SourceTree

__all__ = [
    "imported_names",
    "imports_torch",
    "indentation",
    "leaves",
    "must_ask_late",
    "named",
    "others_prepare_devices",
    "own_names",
    "prepares_devices",
    "prints",
    "replaced_names",
    "selects_device_of_block",
    "selects_devices",
    "selects_devices_before",
    "selects_devices_later",
    "stands_alone",
]

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_PRINTS = ("print", "log", "debug", "info", "warning", "warn", "error", "critical", "write", "format")
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
    if "torch" not in imported and "torch" not in bound and "*" in imported and _reads_torch(tree):
        imported["torch"] = {"torch"}  # it comes from one of the modules whose names are all imported
    only = {name: next(iter(found)) for name, found in imported.items() if len(found) == 1 and name not in bound}
    return _Names({name: full for name, full in only.items() if full}, bound)


def imports_torch(tree: SourceTree) -> bool:
    """Return whether a file has torch under its name everywhere: imported by the file, not by one of its functions."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    imports = (node for node in tree.nodes if isinstance(node, (ast.Import, ast.ImportFrom)))
    return own_names(tree).get("torch") == "torch" and any(
        not any(isinstance(outer, functions) for outer in tree.ancestors(node))
        for node in imports
        if any((alias.asname or alias.name).partition(".")[0] in ("torch", "*") for alias in node.names)
    )


def _reads_torch(tree: SourceTree) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "torch" for node in tree.nodes)


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


def others_prepare_devices(tree: SourceTree, *, is_library: bool) -> bool:
    """Return whether a file is imported, perhaps before another one sets ``CUDA_VISIBLE_DEVICES``, or forks.

    The first query for CUDA must come later, so none may run when the file is imported.
    """
    flags = project_flags.current()
    is_imported = is_library or PurePath(tree.path).stem in flags.imported
    return is_imported and flags.preparing > prepares_devices(tree)


def prepares_devices(tree: SourceTree) -> bool:
    """Return whether a file selects the devices that are visible, or starts processes by forks."""
    return tree.derived(_prepares_devices)


def _prepares_devices(tree: SourceTree) -> bool:
    return project_flags.prepares_devices(tree.tree)


def selects_devices(tree: SourceTree) -> bool:
    """Return whether a file sets ``CUDA_VISIBLE_DEVICES``."""
    return tree.derived(_last_selection) >= 0


def selects_devices_later(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether a statement below a node sets ``CUDA_VISIBLE_DEVICES``, which must precede the first query."""
    return tree.derived(_last_selection) > getattr(node, "lineno", 0)


def selects_devices_before(tree: SourceTree, node: ast.AST) -> bool:
    """Return whether a file has set ``CUDA_VISIBLE_DEVICES`` above a node: in its function, or when it was imported."""
    around = (tree.function(node), tree.tree)
    return any(
        each.lineno < getattr(node, "lineno", 0) and any(tree.function(each) is outer for outer in around)
        for each in tree.nodes
        if isinstance(each, (ast.expr, ast.stmt)) and project_flags.selects_devices(each)
    )


def _last_selection(tree: SourceTree) -> int:
    """Return the last line that sets ``CUDA_VISIBLE_DEVICES``; -1 if none does."""
    return max((getattr(each, "lineno", 0) for each in tree.nodes if project_flags.selects_devices(each)), default=-1)


def named(tree: SourceTree, node: ast.AST) -> str:
    """Return the full name of a function or class that a name or a chain of attributes means; empty if unknown."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in own_names(tree):
        return ""
    return ".".join([own_names(tree)[node.id], *reversed(parts)])


def leaves(stmt: ast.stmt) -> bool:
    """Return whether a statement ends its block: ``return``, ``raise``, ``sys.exit()``."""
    if isinstance(stmt, _LEAVES):
        return True
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and ast.unparse(stmt.value.func) in _EXITS


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


def prints(call: ast.Call) -> bool:
    """Return whether a call shows its arguments, or makes text of them, as ``print`` and the methods of loggers do."""
    func = call.func
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in _PRINTS


def selects_device_of_block(tree: SourceTree, call: ast.AST) -> bool:
    """Return whether a call is ``with torch.cuda.device(index):``, which does nothing if the index is negative.

    https://docs.pytorch.org/docs/stable/generated/torch.cuda.device.html
    """
    match call:
        case ast.Call(args=[index], keywords=[]) if not isinstance(index, ast.Starred):
            return named(tree, call.func) == "torch.cuda.device" and isinstance(tree.parents[call], ast.withitem)
    return False
