"""``--since`` and ``--staged``: restrict a run to changed lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from devfix.cli._errors import CommandError
from devfix.config import Settings
from devfix.engine.changed_lines import ChangesError, Scope, since, staged
from devfix.model import Problem
from devfix.sources import SUFFIXES, SourceFile, excluded

if TYPE_CHECKING:
    from devfix.cli._request import Request

__all__ = ["limit_to_changes"]


def limit_to_changes(
    request: Request, settings: Settings, files: Sequence[SourceFile], problems: Sequence[Problem]
) -> tuple[tuple[SourceFile, ...], tuple[Problem, ...], Scope]:
    """Return the files and problems of a run on changed lines, and its scope.

    Raises:
        CommandError: git cannot determine the changes.

    """
    try:
        scope = staged(request.paths) if request.since is None else since(request.paths, request.since)
    except ChangesError as error:
        raise CommandError(str(error)) from error
    concerned = [problem for problem in problems if scope.concerns(problem)]
    if request.staged:
        files, concerned = _read_index(request.paths, settings, scope, files, concerned)
    if not scope.lines:  # no finding can be affected
        files = ()
    return tuple(files), tuple(concerned), scope


def _read_index(
    paths: Sequence[str], settings: Settings, scope: Scope, files: Sequence[SourceFile], problems: Sequence[Problem]
) -> tuple[list[SourceFile], list[Problem]]:
    """Replace files by their content in the index, and add files deleted only in the working tree."""
    result = [file for file in files if os.path.realpath(file.path) not in scope.texts]
    remaining = [problem for problem in problems if os.path.realpath(problem.path) not in scope.texts]
    names = {os.path.realpath(path): path for path in paths}
    names.update((os.path.realpath(file.path), file.path) for file in files)
    unreadable = {os.path.realpath(problem.path) for problem in scope.problems}
    for full, text in sorted(scope.texts.items()):
        if full not in names and not _is_in(full, paths, settings):
            continue
        if text is not None:
            result.append(replace(text, path=names.get(full, text.path)))
        elif names.get(full) in paths and full not in unreadable:
            remaining.append(Problem(names[full], "is not in the index", hint="run git add"))
    return result, [*remaining, *scope.problems]


def _is_in(full: str, paths: Sequence[str], settings: Settings) -> bool:
    """Return whether a file that is missing from the working tree belongs to one of the directories."""
    within = any(full.startswith(os.path.join(os.path.realpath(path), "")) for path in paths)
    return within and full.endswith(SUFFIXES) and not excluded(full, settings.exclude, settings.root)
