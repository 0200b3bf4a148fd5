"""What a run needs to know of a script: the folder that is copied, where the run starts, and which interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from devfix import sources
from devfix.verify.records import RunError

__all__ = ["Project", "find_project", "find_python"]

_ENVIRONMENTS = (".venv", "venv")
_PROGRAM_FOLDER = "Scripts" if os.name == "nt" else "bin"
_SUFFIXES = (".py", ".pyw")
_STARTED = (*_SUFFIXES, sources.NOTEBOOK)  # by its path; a notebook is no module


class Project(NamedTuple):
    """A script and the folder that is copied for each run of it.

    Attributes:
        root: the folder.
        script: the script's path within it.
        start: the working directory: within ``root``, or an absolute path outside of it, which is not copied.
        module: the module's name, where the script starts as ``python -m`` does; else None.

    """

    root: Path
    script: str
    start: str
    module: str | None = None

    @property
    def starts_outside(self) -> bool:
        """Whether runs start in a folder that is not copied."""
        return os.path.isabs(self.start)

    def absolute(self, path: str) -> str:
        """A path as the project's own files are named: links above the file are resolved."""
        whole = Path(path).absolute()
        return str(whole.parent.resolve() / whole.name)

    def shown(self, path: str) -> str:
        """A path of the project, within it or absolute, as a person would name it from here; others as they are."""
        whole = self.root / path
        relative = os.path.relpath(whole, Path.cwd().resolve())
        if not whole.is_relative_to(self.root):
            return path
        return str(whole) if relative.startswith("..") else relative


def find_project(script: str, cwd: str | None = None, folder: str | None = None, *, module: bool = False) -> Project:
    """The project of a script: ``folder``, else its repository, else the current folder where that holds it.

    The run starts in ``cwd``, else in the current folder where that belongs to the project, else in the script's.

    Args:
        script: a path, or with ``module`` the name of a module as ``python -m`` finds it.
        cwd: the working directory; where it is outside the project, it is not copied.
        folder: the folder that is copied.
        module: start as ``python -m`` does.

    Raises:
        RunError: the script is not there, no Python file, or outside ``folder``, or a folder is not there.

    """
    for name in (cwd, folder):
        if name is not None and not Path(name).is_dir():
            raise RunError(f"{name} is not a folder")
    here = Path.cwd().resolve() if cwd is None else Path(cwd).resolve()
    path, name = _module(script, here) if module else (_file(script), None)
    root = _root(path, here) if folder is None else Path(folder).resolve()
    if not path.is_relative_to(root):
        raise RunError(
            f"{script} is not in {folder}: the folder that --project names is copied, and must hold the script"
        )
    if here.is_relative_to(root):
        start = str(here.relative_to(root))
    elif cwd is not None or module:
        start = str(here)
    else:
        start = str(path.parent.relative_to(root))
    return Project(root, str(path.relative_to(root)), start, name)


def _file(script: str) -> Path:
    path = Path(script).absolute()
    if not path.exists():
        raise RunError(f"{script} does not exist")
    if not path.is_file() or path.suffix not in _STARTED:
        raise RunError(f"{script} is not a Python file or a notebook")
    return path.parent.resolve() / path.name


def _module(name: str, here: Path) -> tuple[Path, str]:
    """The file of a module, and its name; a path within ``here`` stands for the module that it holds."""
    if name.endswith(_SUFFIXES):
        path = _file(name)
        if not path.is_relative_to(here):
            raise RunError(f"{name} is not in {here}, where python -m would look for it")
        parts = path.relative_to(here).with_suffix("").parts
        return path, ".".join(parts[:-1] if parts[-1] == "__main__" else parts)
    for folder in _import_folders(here):
        for path in (folder / f"{name.replace('.', os.sep)}.py", folder.joinpath(*name.split("."), "__main__.py")):
            if path.is_file():
                return path.parent.resolve() / path.name, name
    raise RunError(f"there is no module {name} in {here}: name the folder that python -m would start in with --cwd")


def _import_folders(here: Path) -> Iterator[Path]:
    """Where ``python -m`` finds the modules of a project: here, by PYTHONPATH, or installed from ``src``."""
    yield here
    yield from (here / entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry)
    yield here / "src"


def _root(path: Path, here: Path) -> Path:
    root = Path(sources.repository_root(str(path)))
    if root == path.parent and path.is_relative_to(here) and here not in (Path.home(), Path(here.anchor)):
        return here
    return root


def find_python(project: Project, given: str | None = None) -> str:
    """The interpreter of a script: ``given``, else that of the project's virtual environment, else ours."""
    if given is not None:
        return given
    for folder in (project.root, project.root / project.start):
        for name in _ENVIRONMENTS:
            python = folder / name / _PROGRAM_FOLDER / "python"
            if python.is_file() and (folder / name / "pyvenv.cfg").is_file():
                return str(python)
    return sys.executable
