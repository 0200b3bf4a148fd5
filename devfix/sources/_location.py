"""The location of a file: its repository, and its displayed name."""

from __future__ import annotations

import os
from collections.abc import Iterable

__all__ = ["diff_root", "display", "git_root", "is_within", "own_root", "program_root", "repository_root"]


def git_root(path: str) -> str | None:
    """Return the nearest folder at or above ``path`` with ``.git`` (a folder, or a file in a worktree)."""
    return _nearest(path, ".git")


def repository_root(path: str) -> str:
    """Return the project of ``path``: nearest folder with ``.git``, else with ``pyproject.toml``, else its folder.

    If that folder is a package, the project is the folder from which the package is imported.
    """
    return git_root(path) or _nearest(path, "pyproject.toml") or _above_packages(_folder(path))


def program_root(path: str) -> str:
    """Return the folder that bounds where a program's modules are: its project, or a working folder above that.

    An unpacked archive has no ``.git``; its programs are started, and checked, in its top folder.
    """
    project, here = repository_root(path), os.path.abspath(os.curdir)
    is_marked = git_root(path) is not None or _nearest(path, "pyproject.toml") is not None
    is_above = os.path.dirname(here) != here and is_within(project, here)
    return here if is_above and not is_marked else project


def own_root(folder: str) -> str:
    """Return the project of a folder, with links resolved: what a link in it leads out of."""
    return os.path.realpath(repository_root(os.path.realpath(folder)))


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder, or below it; neither has links."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def diff_root(paths: Iterable[str]) -> str:
    """Return the folder that the names in a diff of ``paths`` are relative to, so that ``git apply`` finds them.

    It is the repository; without one the working folder, because ``git apply`` works from there, else the project.  If
    files of several repositories change, it is the folder that contains them all.
    """
    roots = sorted({_diff_root(path) for path in paths})
    if len(roots) < 2:
        return roots[0] if roots else os.getcwd()
    return os.path.commonpath(roots)


def display(path: str, root: str) -> str:
    """Return ``path`` with links resolved, relative to ``root``, with forward slashes."""
    return os.path.relpath(os.path.realpath(path), os.path.realpath(root)).replace(os.sep, "/")


def _diff_root(path: str) -> str:
    real = os.path.realpath(path)
    found = git_root(real)
    if found is None:
        here = os.path.realpath(os.getcwd())
        found = here if _beneath(real, here) else repository_root(real)
    return found


def _beneath(path: str, folder: str) -> bool:
    return os.path.relpath(path, folder).split(os.sep)[0] != os.pardir


def _folder(path: str) -> str:
    absolute = os.path.abspath(path)
    return absolute if os.path.isdir(absolute) else os.path.dirname(absolute)


def _above_packages(folder: str) -> str:
    """Return the nearest folder at or above ``folder`` that is no package."""
    while os.path.exists(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _nearest(path: str, name: str) -> str | None:
    folder = _folder(path)
    while not os.path.exists(os.path.join(folder, name)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
