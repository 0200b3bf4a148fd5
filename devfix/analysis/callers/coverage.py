"""Coverage: what the analysis did with each function of a file."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from devfix.analysis.callers.roles import Role, role
from devfix.model import Coverage

if TYPE_CHECKING:
    from devfix.analysis.callers.facts.device_facts import DeviceFacts
    from devfix.analysis.program import PythonModule

__all__ = ["coverage_of_library", "coverage_of_program"]

_Method = ast.FunctionDef | ast.AsyncFunctionDef


def coverage_of_program(module: PythonModule, visited: Collection[ast.AST]) -> dict[int, Coverage]:
    """Return by line what became of the functions of the file that starts a program."""
    return {
        function.lineno: Coverage.ANALYSED if function in visited else Coverage.NOT_CALLED
        for function, _ in _functions(module.tree.tree.body, None)
    }


def coverage_of_library(
    module: PythonModule, facts: DeviceFacts, visited: Collection[ast.AST], given_up: Collection[ast.AST]
) -> dict[int, Coverage]:
    """Return by line what became of the functions of a file that any caller calls.

    Args:
        module: the file.
        facts: the functions that can make a difference between devices.
        visited: the functions that were followed.
        given_up: those of them that took more steps than a function is given.

    """
    found: dict[int, Coverage] = {}
    for function, owner in _functions(module.tree.tree.body, None):
        if function in given_up:
            covered = Coverage.GIVEN_UP
        elif function in visited:
            covered = Coverage.ANALYSED
        elif not facts.may_matter(module, function):
            covered = Coverage.TRANSPARENT
        else:
            covered = _BY_ROLE.get(role(function, owner, module.tree), Coverage.NOT_CALLED)
        found[function.lineno] = covered
    return found


_BY_ROLE = {Role.HOST: Coverage.ON_THE_CPU, Role.TEST: Coverage.TEST}


def _functions(body: list[ast.stmt], owner: ast.ClassDef | None) -> Iterator[tuple[_Method, ast.ClassDef | None]]:
    """Yield the functions and methods of a file, with their classes; functions inside others belong to those."""
    for stmt in body:
        if isinstance(stmt, _Method):
            yield stmt, owner
        elif isinstance(stmt, ast.ClassDef):
            yield from _functions(stmt.body, stmt)
        elif isinstance(stmt, (ast.If, ast.Try)):
            yield from _functions([*stmt.body, *stmt.orelse], owner)
