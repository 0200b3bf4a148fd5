"""Detection of entry scripts: a fast check on bytes, then a check of top-level statements."""

from __future__ import annotations

import ast
import re

__all__ = ["can_matter", "starts_program"]

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+\.*\w", re.MULTILINE)
_MAIN_GUARD = re.compile(rb"__main__")
_WORK_METHODS = (
    "to",
    "cuda",
    "load",
    "step",
    "backward",
    "fit",
    "run",
    "train",
    "main",
    "start",
    "launch",
    "Fire",
    "spawn",
)
_SETUP_METHODS = (
    "append",
    "insert",
    "seed",
    "manual_seed",
    "basicConfig",
    "filterwarnings",
    "register",
    "setdefault",
    "update",
    "simplefilter",
    "use",
    "getLogger",
    "setLevel",
    "addHandler",
)


def can_matter(raw: bytes) -> bool:
    """Return whether a file mentions torch, or may start a program that imports a file that does."""
    return b"torch" in raw or (_MAIN_GUARD.search(raw) is not None and _IMPORT.search(raw) is not None)


def starts_program(tree: ast.Module) -> bool:
    """Return whether running the file does more than define functions and classes."""
    relative = any(isinstance(stmt, ast.ImportFrom) and stmt.level for stmt in tree.body)
    defined = {
        stmt.name for stmt in tree.body if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    for stmt in tree.body:
        if isinstance(stmt, ast.If) and _is_main_guard(stmt.test):
            return True
        if not relative and _does_work(stmt, defined):
            return True
    return False


def _is_main_guard(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def _does_work(stmt: ast.stmt, defined: set[str]) -> bool:
    if isinstance(stmt, (ast.For, ast.AsyncFor, ast.While, ast.With)):
        return True
    if isinstance(stmt, (ast.If, ast.Try)):
        inner = [*stmt.body, *stmt.orelse, *getattr(stmt, "finalbody", [])]
        return any(_does_work(part, defined) for part in inner)
    if isinstance(stmt, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)) and stmt.value is not None:
        for node in ast.walk(stmt.value):
            if isinstance(node, ast.Call) and _is_work(node.func, defined, is_statement=isinstance(stmt, ast.Expr)):
                return True
    return False


def _is_work(func: ast.expr, defined: set[str], is_statement: bool) -> bool:
    if isinstance(func, ast.Name):
        return func.id in defined or (is_statement and func.id not in ("print", "setattr", "super"))
    if isinstance(func, ast.Attribute):
        if func.attr in _WORK_METHODS:
            return True
        return is_statement and func.attr not in _SETUP_METHODS
    return False
