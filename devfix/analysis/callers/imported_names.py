"""Names of the files that a file imports from: aliases of types, and classes of modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.callers.file_names import FileNames, names_of

if TYPE_CHECKING:
    from devfix.analysis.program import Program, PythonModule

__all__ = ["names_with_imports"]


def names_with_imports(program: Program, module: PythonModule) -> FileNames:
    """Return the names of a module, together with those of the project's files that it imports from."""

    def other_file(full: str) -> tuple[FileNames, str] | None:
        level = len(full) - len(full.lstrip("."))
        source, _, name = full[level:].rpartition(".")
        found = program.find(source, module, level)
        return (names_with_imports(program, found), name) if found is not None else None

    return names_of(module.tree).linked(other_file)
