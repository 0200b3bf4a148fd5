"""The patch under verification: new contents of a project's files, by their path within the project."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from devfix import sources
from devfix.model import Status
from devfix.vcs import hunks
from devfix.vcs.git import GitError
from devfix.vcs.patching import apply_diff
from devfix.verify.project import Project
from devfix.verify.records import RunError
from devfix.verify.sandbox import SKIPPED_FOLDERS

if TYPE_CHECKING:
    from devfix.config import Settings
    from devfix.model import Outcome

__all__ = [
    "Changes",
    "changes_of",
    "outcome_for",
    "program_files",
    "program_texts",
    "read_patch",
    "unfixed_notes",
]

Changes = dict[str, bytes]

_DIFFS = (".diff", ".patch")


def read_patch(project: Project, patched_path: str) -> Changes:
    """Return the changes between the project and a patched file or folder, or those of a unified diff.

    A file replaces the script.  A folder replaces the project, or the parent folder of the script that contains the
    script under the same relative path; its files override the project's, and no file is deleted.  A file whose name
    ends with ``.diff`` or ``.patch``, and ``-`` for standard input, is a diff.

    Raises:
        RunError: the file or folder does not exist, the folder does not contain the script, or the diff does not apply.

    """
    path = Path(patched_path)
    if patched_path == "-":
        return _patched_by(project, sys.stdin.buffer.read().decode("utf-8", "surrogateescape"), "standard input")
    if path.is_file() and path.suffix in _DIFFS:
        return _patched_by(project, path.read_bytes().decode("utf-8", "surrogateescape"), patched_path)
    if path.is_file():
        pairs = {project.script: path}
    elif path.is_dir():
        base = _counterpart(project, path)
        pairs = {os.path.normpath(os.path.join(base, name)): path / name for name in _files(path)}
    else:
        raise RunError(f"{patched_path}: no such file or folder; check the spelling")
    changes = {}
    for name, source in pairs.items():
        content = source.read_bytes()
        original = project.root / name
        if not original.is_file() or original.read_bytes() != content:
            changes[name] = content
    return changes


def _patched_by(project: Project, diff: str, name: str) -> Changes:
    """Return what a diff makes of the project's files; its paths are those of the project or of the current folder."""
    paths = [file.path for file in hunks.read(diff) if file.path]
    if not paths:
        raise RunError(f"{name}: no unified diff")
    here = Path.cwd().resolve()
    base = next((base for base in (project.root, here) if all((base / path).is_file() for path in paths)), project.root)
    try:
        patched = apply_diff(base, diff, paths)
        return {str((base / path).relative_to(project.root)): content for path, content in patched.items()}
    except (GitError, ValueError) as error:
        raise RunError(f"{name} does not apply to {base}: {error}") from error


def _counterpart(project: Project, folder: Path) -> str:
    """Return the project folder that ``folder`` replaces, relative to the project."""
    parts = Path(project.script).parts
    for depth in range(len(parts)):
        if (folder / Path(*parts[depth:])).is_file():
            return str(Path(*parts[:depth]))
    raise RunError(f"{folder} does not contain {parts[-1]}, the script to replace")


def _files(folder: Path) -> Iterator[str]:
    for current, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(files):
            if os.path.isfile(os.path.join(current, name)):
                yield os.path.relpath(os.path.join(current, name), folder)


def program_files(project: Project) -> list[str]:
    """Return absolute paths of the script and of the project files that it imports, also inside functions."""
    from devfix.analysis.program import Program

    script = str(project.root / project.script)
    program = Program(_read_text, str(project.root))
    entry = program.entry(script)
    waiting = [entry] if entry is not None else []
    found = {script}
    while waiting:
        module = waiting.pop()
        for name, level in _imported_names(module.tree.tree):
            imported = program.find(name, module, level)
            if imported is not None and os.path.abspath(imported.path) not in found:
                found.add(os.path.abspath(imported.path))
                waiting.append(imported)
    return sorted(name for name in found if os.path.isfile(name))


def program_texts(project: Project) -> Iterator[str]:
    """Yield the source of the script and of the project files that it imports."""
    yield from (text for text in map(_read_text, program_files(project)) if text is not None)


def _read_text(path: str) -> str | None:
    try:
        return sources.read(path).text
    except sources.SourceError:
        return None


def _imported_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each name that an import statement may load, with its number of leading dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from ((name, 0) for name in _prefixes(alias.name))
        elif isinstance(node, ast.ImportFrom):
            yield from ((name, node.level) for name in _prefixes(node.module or ""))
            stem = f"{node.module}." if node.module else ""
            yield from ((stem + alias.name, node.level) for alias in node.names if alias.name != "*")


def _prefixes(name: str) -> Iterator[str]:
    """Yield ``a``, ``a.b`` and ``a.b.c`` for ``a.b.c``: Python imports all of them."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def outcome_for(
    project: Project,
    settings: Settings | None = None,
    unsafe_fixes: bool = False,
    progress: Callable[[str, int, int, str], None] | None = None,
) -> Outcome:
    """Return the outcome of ``devfix apply`` on the script and the project files that it imports; write nothing.

    Args:
        project: the script and its folder.
        settings: of the rules; default: the files' configuration.
        unsafe_fixes: apply unsafe fixes, too, whatever the settings say.
        progress: is told of each file, as by :func:`devfix.engine.fixpoint.apply`.

    """
    from devfix import config
    from devfix.engine import fixpoint
    from devfix.rules.registry import all_rules
    from devfix.rules.trust import leave_out

    names = [project.shown(name) for name in program_files(project)]
    if settings is None:
        settings = config.load(names, {rule.code: rule.name for rule in all_rules()}, local=leave_out)
    settings = config.override(settings, {}, unsafe_fixes=unsafe_fixes)
    files, problems = sources.load(names, settings.exclude, settings.root)
    outcome = fixpoint.apply(files, settings, progress=progress)
    return replace(outcome, problems=(*outcome.problems, *problems))


def unfixed_notes(outcome: Outcome) -> tuple[str, ...]:
    """Return one line for each finding that the patch does not fix."""
    unfixed = [
        f"{outcome.where(item.finding.path, item.finding.span.line)} {item.finding.code} is not fixed: {item.reason}"
        for item in outcome.resolutions
        if item.status in (Status.FIXABLE, Status.NOT_FIXED)
    ]
    return (*unfixed, *(f"{problem.path}: {problem.message}" for problem in outcome.problems))


def changes_of(project: Project, outcome: Outcome) -> Changes:
    """Return the patch of an outcome by paths within the project.

    Raises:
        RunError: the patch changes a file outside the project.

    """
    changes = {}
    for change in outcome.patch.files:
        path = Path(project.absolute(change.path))
        if not path.is_relative_to(project.root):
            raise RunError(f"{change.path} is outside {project.root}, the folder that is copied for each run")
        changes[str(path.relative_to(project.root))] = change.new
    return changes
