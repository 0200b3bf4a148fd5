"""Entry files: which files start a program, and which are libraries that callers import."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from devfix import sources
from devfix.analysis.entrypoints import has_main_guard, passed_functions, starts_program
from devfix.analysis.program import Lookups, Program, merge_lookups

if TYPE_CHECKING:
    from devfix.analysis.program import Reader
    from devfix.engine.workspace import Workspace
    from devfix.syntax.tree import SourceTree

__all__ = ["entry_check", "is_library", "is_packaged", "starts_any_program"]

_BUILDS = re.compile(
    r"(?:^|/)(?:setup|noxfile|conftest|conf|test_\w+|\w+_test|versioneer)\.py$|(?:^|/)(?:tests?|docs?)/"
)


def entry_check(space: Workspace, path: str, tree: SourceTree, read: Reader | None = None) -> tuple[bool, Lookups]:
    """Return whether a file starts a program, and the names that were looked for to resolve its imports.

    ``read`` returns the texts of the files that say where to look; without it, the workspace does.
    """
    if space.cells(path) is not None:
        return True, {}
    program = Program(read or space.text, space.root(path))
    program.search_from(path)
    return starts_program(tree, program.has_module), program.lookups


def starts_any_program(space: Workspace, paths: Sequence[str]) -> bool:
    """Return whether one of some files starts a program: no test, and no script that builds or documents a package.

    Files that cannot be parsed start none.
    """
    paths = [path for path in paths if not _BUILDS.search(_in_project(space, path))]
    guarded_first = sorted(paths, key=lambda path: "__main__" not in (space.text(path) or ""))
    for path in guarded_first:
        with suppress(SyntaxError, RecursionError):
            if entry_check(space, path, space.parse(path, space.text(path) or ""))[0]:
                return True
    return False


def _in_project(space: Workspace, path: str) -> str:
    """Return a path within its project, with slashes."""
    return os.path.relpath(os.path.abspath(path), os.path.abspath(space.root(path))).replace(os.sep, "/")


def is_library(
    space: Workspace, path: str, tree: SourceTree, lookups: Lookups, read: Reader, called: Collection[int] = ()
) -> bool:
    """Return whether others may call the functions of a file: it is no script that runs from its first line on.

    Of a script, they may if it passes some of its functions to other code, such as a search for hyperparameters, and
    no program calls these, whose lines are in ``called``.  Modules of packages may compute when they are imported, too:
    they choose a backend, or build a table.  What was looked for to resolve imports is added to ``lookups``.
    """
    program = Program(space.text, space.root(path))
    is_in_package = program.has(os.path.dirname(os.path.abspath(path)), "__init__.py")
    merge_lookups(lookups, program.lookups)
    if is_in_package or has_main_guard(tree) or not passed_functions(tree).issubset(called):
        return True
    is_program, found = entry_check(space, path, tree, read)
    merge_lookups(lookups, found)
    return not is_program


def is_packaged(space: Workspace, path: str, lookups: Lookups, read: Reader) -> bool:
    """Return whether a file is in a package that others can install: its repository says what it builds.

    The package is at the root of the repository, or in ``src/``.  What was looked for is added to ``lookups``.
    """
    root, folder = sources.git_root(path) or space.root(path), os.path.dirname(os.path.abspath(path))
    program = Program(read, root)
    outermost = ""
    while folder != os.path.dirname(folder) and program.has(folder, "__init__.py"):
        outermost, folder = folder, os.path.dirname(folder)
    is_package = outermost not in ("", root) and folder in (root, os.path.join(root, "src"))
    is_installable = is_package and any(
        program.has(root, name) and builds.search(program.text(os.path.join(root, name)) or "")
        for name, builds in _METADATA.items()
    )
    merge_lookups(lookups, program.lookups)
    return is_installable


#: What says that a repository can be installed: https://packaging.python.org/en/latest/specifications/pyproject-toml
_METADATA = {
    "pyproject.toml": re.compile(r"^\[(project|tool\.poetry)\]", re.MULTILINE),
    "setup.cfg": re.compile(r"^\[metadata\]", re.MULTILINE),
    "setup.py": re.compile(r"\bsetup\("),
}
