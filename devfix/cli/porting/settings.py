"""Settings in YAML and JSON that name CUDA and that no edit reads with a choice, which ``devfix port`` lists."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Collection, Sequence
from contextlib import suppress

from devfix.config import Settings
from devfix.model import Outcome, Problem, Status
from devfix.sources import SourceFile
from devfix.sources.device_settings import device_settings
from devfix.syntax.project_flags import answered_settings

__all__ = ["settings_notes"]

_HINT = "set it where the program runs, or let the program choose if it is missing"


def settings_notes(
    paths: Sequence[str], files: Sequence[SourceFile], settings: Settings, outcome: Outcome
) -> tuple[Problem, ...]:
    """Return one note per line of a settings file under the paths whose device is CUDA, whatever the machine.

    ``outcome`` has the edits of this run: a setting that one of them reads with a choice needs no note, and neither
    does one that the program itself replaces where CUDA is not available.
    """
    folders = [path for path in paths if os.path.isdir(path)]
    ported = [each.finding.message for each in outcome.resolutions if each.status in (Status.FIXED, Status.FIXABLE)]
    found = [each for each in device_settings(folders, settings.exclude, settings.root) if each.is_device]
    answered = _answered(files) if found else frozenset()
    return tuple(
        Problem(setting.path, f"the setting `{setting.key}: {setting.value}` requires CUDA", setting.line, _HINT)
        for setting in found
        if setting.key not in answered and not _is_read(setting.key, ported)
    )


def _answered(files: Sequence[SourceFile]) -> frozenset[str]:
    found: set[str] = set()
    for text in (file.text for file in files if "is_available" in file.text):
        with suppress(SyntaxError, ValueError, RecursionError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the text of the file
            found.update(answered_settings(ast.parse(text)))
    return frozenset(found)


def _is_read(key: str, messages: Collection[str]) -> bool:
    reads = (f"['{key}']`", f".{key}`", f".get('{key}'")
    return any(read in message for message in messages for read in reads)
