"""Settings in YAML and JSON that name CUDA and that no edit reads with a choice, which ``devfix port`` lists."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from devfix.config import Settings
from devfix.model import Outcome, Problem, Status
from devfix.sources.device_settings import device_settings

__all__ = ["settings_notes"]

_HINT = "set it where the program runs, or let the program choose if it is missing"


def settings_notes(paths: Sequence[str], settings: Settings, outcome: Outcome) -> tuple[Problem, ...]:
    """Return one note per line of a settings file under the paths whose device is CUDA, whatever the machine.

    ``outcome`` has the edits of this run: a setting that one of them reads with a choice needs no note.
    """
    folders = [path for path in paths if os.path.isdir(path)]
    ported = [each.finding.message for each in outcome.resolutions if each.status in (Status.FIXED, Status.FIXABLE)]
    return tuple(
        Problem(setting.path, f"the setting `{setting.key}: {setting.value}` requires CUDA", setting.line, _HINT)
        for setting in device_settings(folders, settings.exclude, settings.root)
        if setting.is_device and not _is_read(setting.key, ported)
    )


def _is_read(key: str, messages: Collection[str]) -> bool:
    reads = (f"['{key}']`", f".{key}`", f".get('{key}'")
    return any(read in message for message in messages for read in reads)
