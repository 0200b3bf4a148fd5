"""The project of a script: the folder to copy, the working directory and the interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from devfix import sources
from devfix.vcs.git import Git, GitError
from devfix.verify.records import RunError
from devfix.verify.sandbox.scratch import SKIPPED_FOLDERS

__all__ = ["Project", "find_project", "find_python"]

_ENVIRONMENTS = (".venv", "venv")
_PROGRAM_FOLDER = "Scripts" if os.name == "nt" else "bin"
_SUFFIXES = (".py", ".pyw")
_RUNNABLE = (*_SUFFIXES, sources.NOTEBOOK)  # by path; `python -m` cannot start a notebook


class Project(NamedTuple):
    """A script and the folder that is copied for each run of it.

    Attributes:
        root: the folder.
        script: the script's path within it.
        start: the working directory: relative to ``root``, or an absolute path outside it, which is not copied.
        module: the module's name if the script starts as ``python -m`` does; else None.
        tree: the folder that is copied instead of ``root`` if the original is not in the working tree; else None.

    """

    root: Path
    script: str
    start: str
    module: str | None = None
    tree: Path | None = None

    @property
    def original(self) -> Path:
        """The folder with the files before the patch."""
        return self.root if self.tree is None else self.tree

    @property
    def starts_outside(self) -> bool:
        """Whether the working directory is outside the copied folder."""
        return os.path.isabs(self.start)

    def absolute(self, path: str) -> str:
        """Return the absolute path with symbolic links resolved in its folder, but not in its last component."""
        absolute_path = Path(path).absolute()
        return str(absolute_path.parent.resolve() / absolute_path.name)

    def shown(self, path: str) -> str:
        """Return a project path, relative or absolute, for display: relative to the current folder if below it."""
        absolute_path = self.root / path
        relative = os.path.relpath(absolute_path, Path.cwd().resolve())
        if not absolute_path.is_relative_to(self.root):
            return path
        return str(absolute_path) if relative.startswith("..") else relative


def find_project(script: str, cwd: str | None = None, folder: str | None = None, *, module: bool = False) -> Project:
    """Return the project of a script: ``folder``, else its repository, else the current folder if that contains it.

    The working directory is ``cwd``, else the current folder if it belongs to the project, else the script's folder.

    Args:
        script: a path, or with ``module`` the name of a module as ``python -m`` finds it.
        cwd: the working directory; it is not copied if it is outside the project.
        folder: the folder to copy.
        module: start as ``python -m`` does.

    Raises:
        RunError: the script does not exist, is not a Python file or is outside ``folder``, or a folder does not exist.

    """
    for name in (cwd, folder):
        if name is not None and not Path(name).is_dir():
            raise RunError(
                f"{name}: {'not a folder' if os.path.lexists(name) else 'no such folder; check the spelling'}"
            )
    here = Path.cwd().resolve() if cwd is None else Path(cwd).resolve()
    path, name = _module(script, here) if module else (_file(script), None)
    root = _root(path, here) if folder is None else Path(folder).resolve()
    if not path.is_relative_to(root):
        raise RunError(
            f"{script} is not in {folder}: the --project folder is copied for each run and must contain the script"
        )
    if (skipped := _skipped(path.parent, root)) is not None:
        raise RunError(f"{script} is in {skipped}, which is not copied: choose a --project folder within it")
    if here.is_relative_to(root) and _skipped(here, root) is None:
        start = str(here.relative_to(root))
    elif cwd is not None or module:
        start = str(here)
    else:
        start = str(path.parent.relative_to(root))
    return Project(root, str(path.relative_to(root)), start, name)


def _file(script: str) -> Path:
    path = Path(script).absolute()
    if not path.exists():
        raise RunError(f"{script}: no such file or folder; check the spelling")
    if not path.is_file() or path.suffix not in _RUNNABLE:
        raise RunError(f"{script} is not a Python file or a notebook")
    return path.parent.resolve() / path.name


def _module(name: str, here: Path) -> tuple[Path, str]:
    """Return a module's file and name; a path within ``here`` is converted to its module name."""
    if name.endswith(_SUFFIXES):
        path = _file(name)
        if not path.is_relative_to(here):
            raise RunError(f"{name} is not in {here}, the folder that python -m searches")
        parts = path.relative_to(here).with_suffix("").parts
        return path, ".".join(parts[:-1] if parts[-1] == "__main__" else parts)
    for folder in _import_folders(here):
        for path in (folder / f"{name.replace('.', os.sep)}.py", folder.joinpath(*name.split("."), "__main__.py")):
            if path.is_file():
                return path.parent.resolve() / path.name, name
    raise RunError(f"no module named {name} in {here}: set the working directory of python -m with --cwd")


def _import_folders(here: Path) -> Iterator[Path]:
    """Yield the folders that ``python -m`` searches: the current one, PYTHONPATH, and ``src`` if installed from it."""
    yield here
    yield from (here / entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry)
    yield here / "src"


def _root(path: Path, here: Path) -> Path:
    root = Path(sources.repository_root(str(path)))
    if _skipped(path.parent, root) is not None:
        return here if path.is_relative_to(here) and _skipped(path.parent, here) is None else path.parent
    if root == path.parent and path.is_relative_to(here) and here not in (Path.home(), Path(here.anchor)):
        return here
    return root


def _skipped(folder: Path, root: Path) -> str | None:
    """Return the part of a path below ``root`` that no copy of ``root`` has, or None."""
    return next((part for part in folder.relative_to(root).parts if part in SKIPPED_FOLDERS), None)


def find_python(project: Project, given: str | None = None) -> str:
    """Return the interpreter: ``given``, else that of the project's virtual environment, else the current one.

    The interpreter starts before its runs are confined, so a virtual environment that is committed to the repository,
    or a part of one, is not used: its files are the author's, not the user's.
    """
    if given is not None:
        return given
    for folder in (project.root, project.root / project.start):
        for name in _ENVIRONMENTS:
            python = folder / name / _PROGRAM_FOLDER / "python"
            if python.is_file() and (folder / name / "pyvenv.cfg").is_file() and not _is_committed(folder, name):
                return str(python)
    return sys.executable


def _is_committed(folder: Path, name: str) -> bool:
    """Return whether a file below ``name`` belongs to the repository of ``folder``."""
    try:
        return bool(Git(str(folder), user_checkout=True)("ls-files", "-z", "--", name))
    except GitError:
        return sources.git_root(str(folder)) is not None  # a repository that git cannot read is not trusted
