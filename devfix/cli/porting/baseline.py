"""``--baseline``: the places of each file and rule may only become fewer.

The file has one line per file and rule, sorted: the code, the count, and the path relative to the baseline's folder.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from devfix.cli._errors import CommandError
from devfix.model import Outcome, Problem, Resolution, Status
from devfix.sources import write_whole

__all__ = ["held_to_baseline"]

_HEAD = (
    "# Places that require CUDA, by rule and file. Written by: devfix port --check --baseline FILE --update-baseline"
)
_LINE = re.compile(r"(?P<code>[A-Z]{3,10}[0-9]{3}) (?P<count>[1-9][0-9]*) (?P<path>\S.*)")
_Counts = Mapping[tuple[str, str], int]  # by path and code


def held_to_baseline(outcome: Outcome, files: Iterable[str], path: str, updates: bool) -> Outcome:
    """Return an outcome without the findings that a baseline has.

    Of a file and rule with more findings than the baseline counts, all are kept: a count does not tell which one is
    new.  Fewer findings are a note.  With ``updates``, the file is written: lower counts, and, if there was no file,
    all of them; a count never rises.  Raises :class:`CommandError` if the file cannot be read or written.
    """
    before = _read(path, updates)
    folder = os.path.dirname(os.path.abspath(path))
    checked = {_relative(file, folder) for file in files}
    now: Counter[tuple[str, str]] = Counter(_key(each, folder) for each in outcome.resolutions if _counts(each))
    known: _Counts = now if before is None else before
    kept = tuple(
        each
        for each in outcome.resolutions
        if not _counts(each) or now[_key(each, folder)] > known.get(_key(each, folder), 0)
    )
    if updates:
        _write(path, dict(_lowered(known, now, checked, folder)))
    notes = [*outcome.notes, *(() if updates else _falls(known, now, checked, folder, path))]
    notes += _rises(known, now, outcome, folder)
    return replace(outcome, resolutions=kept, notes=tuple(notes))


def _counts(resolution: Resolution) -> bool:
    return resolution.status is not Status.SUPPRESSED


def _key(resolution: Resolution, folder: str) -> tuple[str, str]:
    return _relative(resolution.finding.path, folder), resolution.finding.code


def _relative(path: str, folder: str) -> str:
    return os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")


def _lowered(
    known: _Counts, now: Counter[tuple[str, str]], checked: set[str], folder: str
) -> Iterable[tuple[tuple[str, str], int]]:
    """Yield the counts of the new baseline; those of files that were not checked stay while the files are there."""
    for (name, code), count in known.items():
        if name in checked:
            count = min(count, now[name, code])
        elif not os.path.exists(os.path.join(folder, name)):
            count = 0
        if count:
            yield (name, code), count


def _falls(
    known: _Counts, now: Counter[tuple[str, str]], checked: set[str], folder: str, path: str
) -> Iterable[Problem]:
    for (name, code), count in sorted(known.items()):
        is_gone = name not in checked and not os.path.exists(os.path.join(folder, name))
        if is_gone or (name in checked and now[name, code] < count):
            hint = f"lower the baseline: devfix port --check --baseline {path} --update-baseline"
            yield Problem(name, f"{code}: {now[name, code]} of {count} places are left", hint=hint)


def _rises(known: _Counts, now: Counter[tuple[str, str]], outcome: Outcome, folder: str) -> Iterable[Problem]:
    shown = {_relative(each.finding.path, folder): each.finding.path for each in outcome.resolutions}
    for (name, code), count in sorted(now.items()):
        if 0 < known.get((name, code), 0) < count:
            told = f"{code}: {count} places, and the baseline has {known[name, code]}"
            yield Problem(shown[name], told, hint="one of them is new")


def _read(path: str, updates: bool) -> _Counts | None:
    """Return the counts of a baseline; ``None`` if there is none yet, and it is to be written."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        if updates:
            return None
        raise CommandError(f"{path}: there is no baseline: write it with --update-baseline") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    counts = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise CommandError(f"{path}:{number}: is not a line of a baseline, such as 'DEV811 3 src/train.py'")
        counts[match["path"], match["code"]] = int(match["count"])
    return counts


def _write(path: str, counts: _Counts) -> None:
    lines = [_HEAD, *(f"{code} {count} {name}" for (name, code), count in sorted(counts.items()))]
    try:
        write_whole(Path(path), ("\n".join([*lines, ""]).encode(),))
    except OSError as error:
        raise CommandError(f"{path}: cannot be written: {error.strerror or error}") from error
