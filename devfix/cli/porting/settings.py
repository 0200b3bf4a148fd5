"""Settings in YAML and JSON that name CUDA, which ``devfix port`` lists: these files have no expressions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from devfix.config import Settings
from devfix.model import Problem
from devfix.sources import discover

__all__ = ["settings_notes"]

_SUFFIXES = (".yaml", ".yml", ".json")
_LARGEST = 200_000  # bytes; larger files are data
_DEVICE = re.compile(
    r"""[\s{,-]*["']?(?P<key>(?:[\w.]+[_-])?device)["']?\s*:\s*["']?(?P<device>cuda(?::\d+)?)["']?\s*[,}]*\s*(?:\#.*)?"""
)


def settings_notes(paths: Sequence[str], settings: Settings) -> tuple[Problem, ...]:
    """Return one note per line of a settings file under the paths whose device is CUDA."""
    folders = [path for path in paths if os.path.isdir(path)]
    found = discover(folders, settings.exclude, settings.root, _SUFFIXES)
    return tuple(note for path in found.files for note in _notes(path))


def _notes(path: str) -> Iterator[Problem]:
    try:
        if os.path.getsize(path) > _LARGEST:
            return
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
    except (OSError, UnicodeDecodeError):
        return
    for number, line in enumerate(lines, 1):
        match = _DEVICE.fullmatch(line.rstrip("\n"))
        if match is not None:
            hint = "set it where the program runs, or let the program choose if it is missing"
            yield Problem(path, f"the setting `{match['key']}: {match['device']}` requires CUDA", number, hint)
