"""What a run needs to know of a script: the folder that is copied, where the run starts, and which interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from devfix import sources
from devfix.verify.runs import RunError
from devfix.verify.servers import ServerDied, about

__all__ = ["Project", "choose_device", "find_project", "find_python"]

_ENVIRONMENTS = (".venv", "venv")
_PROGRAM_FOLDER = "Scripts" if os.name == "nt" else "bin"
_LOOKUP_SECONDS = 120


class Project(NamedTuple):
    """``root`` is copied for each run; ``script`` and ``start``, the working directory, are relative to it."""

    root: Path
    script: str
    start: str

    def absolute(self, path: str) -> str:
        """A path as the project's own files are named: links above the file are resolved."""
        whole = Path(path).absolute()
        return str(whole.parent.resolve() / whole.name)


def find_project(script: str, cwd: str | None = None) -> Project:
    """The project of a script: ``cwd``, else its repository, else the current folder where that holds it.

    The run starts in the current folder where that belongs to the project, else in the script's folder.

    Raises:
        RunError: the script is not there, no Python file, or outside ``cwd``.

    """
    path = Path(script).absolute()
    if not path.exists():
        raise RunError(f"{script} does not exist")
    if not path.is_file() or path.suffix not in (".py", ".pyw"):
        raise RunError(f"{script} is not a Python file")
    path = path.parent.resolve() / path.name
    if cwd is not None:
        root = Path(cwd).resolve()
        if not root.is_dir():
            raise RunError(f"{cwd} is not a folder")
        if not path.is_relative_to(root):
            raise RunError(f"{script} is not in {cwd}: the folder that --cwd names is copied, and must hold the script")
        return Project(root, str(path.relative_to(root)), ".")
    here = Path.cwd().resolve()
    root = Path(sources.repository_root(str(path)))
    if root == path.parent and path.is_relative_to(here) and here not in (Path.home(), Path(here.anchor)):
        root = here
    start = here if here.is_relative_to(root) else path.parent
    return Project(root, str(path.relative_to(root)), str(start.relative_to(root)))


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


def choose_device(wanted: str, python: str) -> str:
    """``auto`` is ``cuda`` where the interpreter's torch sees a CUDA device, else ``sim``.

    Raises:
        RunError: the interpreter has no torch, or sees no CUDA device although one was asked for.

    """
    try:
        built_for_cuda = about(python)["cuda"] is not None
    except ServerDied as error:
        raise RunError(str(error)) from error
    if wanted not in ("auto", "cuda"):
        return wanted
    sees = built_for_cuda and _sees_cuda(python)
    if wanted == "cuda" and not sees:
        raise RunError(f"the torch of {python} sees no CUDA device: --device sim simulates one")
    return "cuda" if sees else "sim"


def _sees_cuda(python: str) -> bool:
    """Asked in a process of its own: a process that has asked cannot be forked any more."""
    try:
        done = subprocess.run(
            [python, "-s", "-c", "import torch; print(torch.cuda.is_available())"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LOOKUP_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip().endswith("True")
