"""``--since`` and ``--staged``: the files of a run as git has them, and what of them the run is about."""

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
    """Files and problems of a run on changed lines, and its scope; raises ``CommandError`` where git cannot say."""
    try:
        scope = staged(request.paths) if request.since is None else since(request.paths, request.since)
    except ChangesError as error:
        raise CommandError(str(error)) from error
    kept = [problem for problem in problems if scope.concerns(problem)]
    if request.staged:
        files, kept = _of_index(request.paths, settings, scope, files, kept)
    if not scope.lines:  # nothing that a finding could have to do with
        files = ()
    return tuple(files), tuple(kept), scope


def _of_index(
    paths: Sequence[str], settings: Settings, scope: Scope, files: Sequence[SourceFile], problems: Sequence[Problem]
) -> tuple[list[SourceFile], list[Problem]]:
    """The files as the index has them: with those that are gone from the working tree, without those not in it."""
    kept = [file for file in files if os.path.realpath(file.path) not in scope.texts]
    left = [problem for problem in problems if os.path.realpath(problem.path) not in scope.texts]
    names = {os.path.realpath(path): path for path in paths}
    names.update((os.path.realpath(file.path), file.path) for file in files)
    unreadable = {os.path.realpath(problem.path) for problem in scope.problems}
    for full, text in sorted(scope.texts.items()):
        if full not in names and not _is_in(full, paths, settings):
            continue
        if text is not None:
            kept.append(replace(text, path=names.get(full, text.path)))
        elif names.get(full) in paths and full not in unreadable:
            left.append(Problem(names[full], "is not in the index", hint="git add it"))
    return kept, [*left, *scope.problems]


def _is_in(full: str, paths: Sequence[str], settings: Settings) -> bool:
    """Whether a file that is gone from the working tree would have been found in one of the folders."""
    within = any(full.startswith(os.path.join(os.path.realpath(path), "")) for path in paths)
    return within and full.endswith(SUFFIXES) and not excluded(full, settings.exclude, settings.root)
