"""Scratch copies of projects, and an environment without secrets."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from devfix.sources.removal import remove_tree
from devfix.verify.probe.confinement.file_view import prepare
from devfix.verify.sandbox.file_access import CACHE_VARIABLES, home_folders, is_private

__all__ = [
    "RUN_PREFIX",
    "CopyError",
    "ProjectTooLarge",
    "Scratch",
    "UnsafeChange",
    "clean_environment",
    "overlay",
    "scratch_copy",
]

#: Folders that are not copied.
SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "node_modules",
    }
)

#: Environment variables that are passed to a run.  Any other may hold a token.
ALLOWED_VARIABLES = frozenset(
    {
        "PATH",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TERM",
        "LD_LIBRARY_PATH",
        "VIRTUAL_ENV",
        "PYTHONPATH",
        "SYSTEMROOT",
        "CUDA_VISIBLE_DEVICES",
        *CACHE_VARIABLES,
    }
)

_FICLONE = 0x40049409

#: What the names of scratch folders begin with; the script does not learn from it who runs it.
RUN_PREFIX = "run-"
DEFAULT_SIZE_LIMIT = 4 << 30


class ProjectTooLarge(Exception):
    """The project's folder is larger than the limit for a scratch copy."""


class CopyError(Exception):
    """The project's folder was deleted, or there is no space for its copy."""


class UnsafeChange(Exception):
    """A change would be written outside the scratch copy."""


class Scratch(NamedTuple):
    """Folders of one run.

    Attributes:
        folder: contains all others.
        project: the copy.
        home: ``$HOME``.
        tmp: the run's ``/tmp`` if its files are isolated, and ``$TMPDIR`` in any case.
        left_out: files that are not copied because they may hold credentials, by their path within the project.

    """

    folder: Path
    project: Path
    home: Path
    tmp: Path
    left_out: tuple[str, ...] = ()


def _clone_or_copy(source: str, target: str) -> str:
    """Copy one file, as a reflink if the file system supports it (no hard link: the script may write in place)."""
    try:
        with open(source, "rb") as reader, open(target, "wb") as writer:
            fcntl.ioctl(writer.fileno(), _FICLONE, reader.fileno())
    except OSError:
        shutil.copyfile(source, target)
    shutil.copystat(source, target)
    return target


class _Selection:
    """The files of a project that are copied; ``left_out`` are those that may hold credentials."""

    def __init__(self, allowed: Collection[str]) -> None:
        self.left_out: set[str] = set()
        self._allowed = {os.path.realpath(path) for path in allowed}
        self._homes = home_folders()

    def ignored(self, folder: str, names: list[str]) -> set[str]:
        """Return the names to skip: credentials, folders that a run does not need, sockets, pipes and devices."""
        skipped = set(SKIPPED_FOLDERS.intersection(names))
        for name in names:
            path = os.path.join(folder, name)
            if not (os.path.islink(path) or os.path.isdir(path) or os.path.isfile(path)):
                skipped.add(name)
            elif name not in skipped and path not in self._allowed and is_private(path, self._homes):
                skipped.add(name)
                self.left_out.add(path)
        return skipped


def _check_size(project: Path, limit: int, ignored: Callable[[str, list[str]], set[str]]) -> None:
    total = 0
    for folder, folders, files in os.walk(project):
        skipped = ignored(folder, [*folders, *files])
        folders[:] = [name for name in folders if name not in skipped]
        for name in files:
            try:
                total += 0 if name in skipped else os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
        if total > limit:
            raise ProjectTooLarge(
                f"{project} is larger than {limit >> 20} MB, too large to copy for each run: select a smaller folder "
                "that contains the script with --project; data outside it is not copied and can be read by absolute "
                "path (in your home folder with --allow-read), or relative to a working directory set with --cwd"
            )


#: Errors after which a file is skipped: the script cannot read it either, or it was deleted meanwhile.
_LEFT_OUT = tuple(f"[Errno {number}]" for number in (errno.EACCES, errno.EPERM, errno.ENOENT))


def _copy_tree(project: Path, copy: Path, ignored: Callable[[str, list[str]], set[str]]) -> None:
    """Copy all readable files that are not ignored.

    Raises:
        CopyError: the folder cannot be read, or a file failed for another reason than its permissions.

    """
    try:
        shutil.copytree(project, copy, symlinks=True, ignore=ignored, copy_function=_clone_or_copy, dirs_exist_ok=True)
    except shutil.Error as error:
        left = [(path, str(why)) for path, _, why in error.args[0] if not str(why).startswith(_LEFT_OUT)]
        if left:
            path, why = left[0]
            reason = why.split(":")[0]  # without the two paths
            raise CopyError(f"{path} could not be copied to {copy.parent.parent}: {reason}{_advice(why)}") from error
    except OSError as error:
        raise CopyError(f"{project} could not be copied: {error.strerror}") from error


def _advice(why: str) -> str:
    full = any(f"[Errno {number}]" in why for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
    return "; set TMPDIR to a folder with more space" if full else ""


@contextmanager
def scratch_copy(
    project: Path, size_limit: int = DEFAULT_SIZE_LIMIT, keep: bool = False, allowed: Collection[str] = ()
) -> Iterator[Scratch]:
    """Yield a copy of ``project``, and delete it afterwards unless ``keep``.

    Args:
        project: the folder.
        size_limit: limit on its size, in bytes.
        keep: do not delete the copy.
        allowed: files that are copied even if they may hold credentials.

    Raises:
        ProjectTooLarge: the copy would exceed ``size_limit``.
        CopyError: the project was deleted, or there is no space for its copy.

    """
    selection = _Selection(allowed)
    _check_size(project, size_limit, selection.ignored)
    try:
        folder = Path(tempfile.mkdtemp(prefix=RUN_PREFIX)).resolve()
    except OSError as error:
        raise CopyError(f"cannot create a scratch folder: {error.strerror}; set TMPDIR to its parent folder") from error
    try:
        copy, home = folder / "project", folder / "home"
        home.mkdir()
        prepare(str(folder))
        _copy_tree(project, copy, selection.ignored)
        _point_links_inside(project, copy)
        left_out = sorted(os.path.relpath(path, project) for path in selection.left_out)
        yield Scratch(folder, copy, home, folder / "tmp", tuple(left_out))
    finally:
        if not keep:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Delete a folder, even if the script made it read-only."""
    with suppress(RecursionError):  # os.walk recurses until Python 3.12; what is too deep is rarely read-only
        for current, folders, _ in os.walk(folder):
            for name in folders:
                path = os.path.join(current, name)
                if not os.path.islink(path):
                    with suppress(OSError):
                        os.chmod(path, 0o700)
    remove_tree(folder)


def _point_links_inside(project: Path, copy: Path) -> None:
    """Redirect absolute links into the project to the copy, so that the script cannot write to the original."""
    for current, folders, files in os.walk(copy):
        for name in (*folders, *files):
            path = os.path.join(current, name)
            if not os.path.islink(path):
                continue
            target = os.readlink(path)
            if os.path.isabs(target) and _within(os.path.realpath(target), project):
                os.unlink(path)
                os.symlink(copy / os.path.relpath(os.path.realpath(target), project), path)


def _within(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith(str(folder) + os.sep)


def overlay(copy: Path, changes: Mapping[str, bytes]) -> None:
    """Write new contents of files, by their path within the scratch copy; replace links, never follow them.

    Raises:
        UnsafeChange: a path resolves to a file outside the copy.

    """
    for name, content in changes.items():
        target = copy / name
        if not _within(os.path.realpath(target.parent), copy):
            raise UnsafeChange(f"{name} is behind a symbolic link to a folder outside the project")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(content)


def clean_environment(scratch: Scratch, extra: dict[str, str] | None = None) -> dict[str, str]:
    """Return a run's environment: allowed variables, a scratch home, one thread, and a fixed hash seed."""
    environment = {name: value for name, value in os.environ.items() if name in ALLOWED_VARIABLES}
    environment.update(
        HOME=str(scratch.home),
        TMPDIR=str(scratch.tmp),
        XDG_CACHE_HOME=str(scratch.home / ".cache"),
        MPLCONFIGDIR=str(scratch.home / ".matplotlib"),
        MPLBACKEND="Agg",
        OMP_NUM_THREADS="1",
        MKL_NUM_THREADS="1",
        PYTHONHASHSEED="0",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONUNBUFFERED="1",
        TOKENIZERS_PARALLELISM="false",
        WANDB_MODE="disabled",
    )
    environment.update(extra or {})
    return environment
