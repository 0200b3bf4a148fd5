"""Releases of PyTorch that a project names and that the edits of ``devfix port`` cannot run on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from devfix.analysis import Program
from devfix.analysis.torch.releases import named_release
from devfix.config import Settings
from devfix.model import Outcome, Problem
from devfix.sources import SourceError, read

__all__ = ["release_notes"]

_DEVICES = (0, 4)  # the first release with ``torch.device`` and ``to``


def release_notes(paths: Sequence[str], settings: Settings, outcome: Outcome) -> tuple[Problem, ...]:
    """Return a note if the project names a release without devices, and no other one was asked for.

    The files beside a changed file, and those of the folders around it, may name one.
    """
    if settings.targets.torch is not None or not outcome.patch.files:
        return ()
    start = paths[0] if paths else os.curdir
    first_path = os.path.join(start, "__init__.py") if os.path.isdir(start) else start
    for path in (first_path, *(change.path for change in outcome.patch.files)):
        program = Program(_text, settings.root)
        program.search_from(path)
        release = named_release(program)
        if release is not None and release < _DEVICES:
            named, first = ".".join(map(str, release)), ".".join(map(str, _DEVICES))
            return (Problem(start, f"the edits require PyTorch {first}, and the project names {named}", hint=_HINT),)
    return ()


_HINT = "run the program with a newer PyTorch, or do not port it"


def _text(path: str) -> str | None:
    try:
        return read(path).text
    except SourceError:
        return None
