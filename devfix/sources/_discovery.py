"""Discovery of files: those given by name, and the Python files and notebooks of given folders, as git sees them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from devfix.model import Problem
from devfix.sources._location import git_root, is_within, own_root
from devfix.sources._source_file import SourceError, SourceFile
from devfix.sources._text import NOTEBOOK, read
from devfix.sources.patterns import is_pattern, pattern_spec

if TYPE_CHECKING:
    import pathspec

__all__ = ["SUFFIXES", "Discovery", "discover", "excluded", "left_out", "load"]

SUFFIXES = (".py", ".pyw", NOTEBOOK)
_SKIPPED_FOLDERS = frozenset(
    {
        *{".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache"},
        *{".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "__pypackages__", "build", "dist", "node_modules"},
        *{"site-packages", "venv"},
    }
)
# The marker is built, so that this file does not carry it.
_GENERATED = re.compile(rb"\A(?:[^\n]*\n){0,9}[^\n]*" + b"@" + b"generated\\b")
_PATTERN = frozenset("*?[")  # characters of a pattern that the shell did not expand
_GIT_TIMEOUT_S = 120
_OUTSIDE = "it is a link to a file outside of the project"


@dataclass(frozen=True)
class Discovery:
    """The sorted, distinct ``files``; ``named`` are those given by name, which are read whatever their suffix is.

    ``outside`` are links in a folder to files outside its project: they are neither read nor written.
    """

    files: tuple[str, ...]
    named: frozenset[str]
    problems: tuple[Problem, ...]
    outside: tuple[str, ...] = ()


def discover(
    paths: Sequence[str], exclude: Sequence[str] = (), root: str = ".", suffixes: tuple[str, ...] = SUFFIXES
) -> Discovery:
    """Return the files that ``paths`` stand for: in a folder, those with one of the suffixes.

    ``exclude`` are gitignore patterns relative to ``root``; like ``.gitignore``, they apply to files found in a folder,
    not to a file given by name.  A missing path and a folder without Python files are problems.  A link in a folder is
    followed within its project, which is its repository if there is one: a tree of a stranger names no other file.
    """
    wanted = _excluder(exclude, root)
    found: dict[str, tuple[bool, str]] = {}  # real path → (found in a folder, name): given by name sorts first
    problems, outside = [], []
    for path in paths:
        project = ""
        if os.path.isdir(path):
            project = own_root(path)
            names = [name for name in _in_folder(path, suffixes) if wanted(name)]
            if not names:
                problems.append(Problem(path, "no Python files here", hint="are they excluded or ignored by git?"))
            candidates = [(True, name) for name in names]
        elif os.path.lexists(path):
            candidates = [(False, path)]
        else:
            hint = "check the spelling" if _PATTERN.isdisjoint(path) else "no file matches, or the pattern is in quotes"
            problems.append(Problem(path, "no such file or folder", hint=hint))
            continue
        for candidate in candidates:
            real = os.path.realpath(candidate[1])
            if project and not is_within(real, project):
                outside.append(candidate[1])
                continue
            found[real] = min(found.get(real, candidate), candidate, key=lambda item: _preference(item, real))
    named = frozenset(name for in_folder, name in found.values() if not in_folder)
    files = tuple(sorted(name for _, name in found.values()))
    return Discovery(files, named, tuple(problems), tuple(sorted(outside)))


def left_out(path: str, folder: str, exclude: Sequence[str] = (), root: str = ".") -> bool:
    """Return whether :func:`discover` skips a file under ``folder``: excluded, or part of an environment."""
    name = os.path.relpath(os.path.abspath(path), os.path.abspath(folder))
    return _in_skipped_folder(folder, name, {}) or excluded(path, exclude, root)


def load(
    paths: Sequence[str], exclude: Sequence[str] = (), root: str = "."
) -> tuple[tuple[SourceFile, ...], tuple[Problem, ...]]:
    """Read the files that :func:`discover` finds, without generated files that were not given by name.

    If an extra is missing, the files of a folder that need it are skipped, and the first one has a note; so are links
    that lead out of their project.
    """
    discovery = discover(paths, exclude, root)
    files, problems = [], list(discovery.problems)
    lacking: dict[str, list[Problem]] = {}
    for path in discovery.files:
        try:
            file = read(path)
        except SourceError as error:
            if error.lacks and path not in discovery.named:
                lacking.setdefault(error.lacks, []).append(error.problem)
            else:
                problems.append(error.problem)
            continue
        if path in discovery.named or not is_generated(file.raw):
            files.append(file)
    links = [Problem(path, _OUTSIDE, hint="name the file to include it") for path in discovery.outside]
    files += [_left_out(*left) for left in (*lacking.values(), links) if left]
    return tuple(files), tuple(sorted(problems, key=lambda problem: (problem.path, problem.line)))


def excluded(path: str, exclude: Sequence[str], root: str) -> bool:
    """Return whether patterns as for :func:`discover` exclude a file."""
    return not _excluder(exclude, root)(path)


def _left_out(first: Problem, *others: Problem) -> SourceFile:
    more = f", and so are {len(others)} more" if others else ""
    return SourceFile(first.path, b"", "", notes=(replace(first, message=f"left out{more}: {first.message}"),))


def is_generated(raw: bytes) -> bool:
    """Return whether one of the first ten lines carries the marker of generated files."""
    return _GENERATED.match(raw) is not None


def _preference(candidate: tuple[bool, str], real: str) -> tuple[bool, bool, str]:
    """Sort key for several names of one file: given by name first, then the file itself before a link to it."""
    in_folder, name = candidate
    return in_folder, os.path.abspath(name) != real, name


def _excluder(patterns: Sequence[str], root: str) -> _Excluder:
    return _Excluder(pattern_spec(patterns) if patterns else None, os.path.abspath(root))


@dataclass(frozen=True)
class _Excluder:
    spec: pathspec.GitIgnoreSpec | None
    root: str

    def __call__(self, path: str) -> bool:
        """Return whether ``path`` is wanted."""
        if self.spec is None:
            return True
        relative = os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")
        return relative.startswith("../") or not self.spec.match_file(relative)


def _in_folder(folder: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """Return the files with a suffix under ``folder``, with names that begin with it (``.`` is omitted)."""
    listed = _listed_by_git(folder, suffixes)
    for relative in _walk(folder, suffixes) if listed is None else listed:
        yield relative if folder == "." else os.path.join(folder, relative)


def _listed_by_git(folder: str, suffixes: tuple[str, ...]) -> list[str] | None:
    """Return the files with a suffix that git lists; ``None`` outside a repository, without git, or if it is ignored.

    Submodules and nested repositories are skipped, as git does; name them to include them.
    """
    real = os.path.realpath(folder)
    root = git_root(real)
    git = shutil.which("git") if root is not None else None
    if git is None or root is None:
        return None
    # Git's configuration may name programs, and reading a tree must not run them: no fsmonitor, no transport that
    # fetches missing objects.  The command runs in the root, because in a folder of files that are named as those of a
    # bare repository, git would take these for its own.
    inside = os.path.relpath(real, root).replace(os.sep, "/")
    command = [git, "-c", "core.fsmonitor=false", "--literal-pathspecs", "ls-files", "-z", "--cached", "--others"]
    command += ["--exclude-standard", *([] if inside == "." else ["--", inside])]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_ALLOW_PROTOCOL"] = "none"
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, check=False, timeout=_GIT_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode or not done.stdout:
        return None
    head = b"" if inside == "." else os.fsencode(inside) + b"/"
    ends = tuple(suffix.encode() for suffix in suffixes)
    names = {
        os.fsdecode(name[len(head) :]).replace("/", os.sep)
        for name in done.stdout.split(b"\0")
        if name.startswith(head) and name.endswith(ends)
    }
    environments: dict[str, bool] = {}
    return [
        name
        for name in sorted(names)
        if not _in_skipped_folder(folder, name, environments) and os.path.isfile(os.path.join(folder, name))
    ]


def _in_skipped_folder(folder: str, name: str, seen: dict[str, bool]) -> bool:
    """Return whether a folder of a path is skipped; ``seen`` has the answers for folders."""
    unknown = []  # from the innermost one; not recursive, because there may be thousands
    parent = os.path.dirname(name)
    while parent and parent not in seen:
        unknown.append(parent)
        parent = os.path.dirname(parent)
    skipped = bool(parent) and seen[parent]
    for each in reversed(unknown):
        skipped = skipped or os.path.basename(each) in _SKIPPED_FOLDERS or _is_environment(os.path.join(folder, each))
        seen[each] = skipped
    return skipped


def _is_environment(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def _walk(folder: str, suffixes: tuple[str, ...]) -> list[str]:
    """Return the files with a suffix under ``folder``, by its .gitignore files and those above it in the repository.

    Links to folders are not followed, which also ends loops of links.
    """
    top = os.path.abspath(folder)
    specs = _specs_above(top)
    found = []
    for current, folders, files in os.walk(top):
        ignore = os.path.join(current, ".gitignore")
        if ".gitignore" in files:
            specs = [*specs, (current, _ignore_file(ignore))]
        near = [
            (base, spec) for base, spec in specs if current == base or current.startswith(base.rstrip(os.sep) + os.sep)
        ]
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED_FOLDERS
            and not _is_environment(os.path.join(current, name))
            and not _ignored(os.path.join(current, name) + "/", near)
        )
        for name in files:
            full = os.path.join(current, name)
            if name.endswith(suffixes) and os.path.isfile(full) and not _ignored(full, near):
                found.append(os.path.relpath(full, top))
    return sorted(found)


def _specs_above(top: str) -> list[tuple[str, pathspec.GitIgnoreSpec]]:
    root = git_root(top)
    specs: list[tuple[str, pathspec.GitIgnoreSpec]] = []
    folder = top
    while root is not None and folder != root:
        folder = os.path.dirname(folder)
        ignore = os.path.join(folder, ".gitignore")
        if os.path.isfile(ignore):
            specs.insert(0, (folder, _ignore_file(ignore)))
    # A folder that was named is wanted, also where a file above it ignores it.
    return [] if _ignored(top + "/", specs) else specs


def _ignore_file(path: str) -> pathspec.GitIgnoreSpec:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return pattern_spec(filter(is_pattern, file.read().splitlines()))
    except OSError:
        return pattern_spec([])


def _ignored(path: str, specs: Iterable[tuple[str, pathspec.GitIgnoreSpec]]) -> bool:
    """Return whether ``path`` is ignored; the last .gitignore with a matching pattern decides, as in git."""
    verdict = False
    for base, spec in specs:
        relative = path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        answer = spec.check_file(relative).include
        verdict = verdict if answer is None else answer
    return verdict
