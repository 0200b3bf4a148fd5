"""Pairs of files of two runs: by name, or by the pattern of names that differ from run to run."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Mapping

from devfix.verify.outputs.collection import File
from devfix.verify.outputs.vocabulary import name_pattern, noisy_name_pattern

__all__ = ["pair_files", "unstable_names"]


def pair_files(
    ours: Mapping[str, File], theirs: Mapping[str, File], unstable: Collection[str] = ()
) -> list[tuple[str | None, str | None]]:
    """Return pairs of names of corresponding files; None for a file without partner.

    Args:
        ours: files of the run to judge, by name.
        theirs: the expected files.
        unstable: names in ``theirs`` that a repetition does not reproduce, whatever they consist of.

    """
    found: list[tuple[str | None, str | None]] = [(name, name) for name in ours if name in theirs]
    left, right = (
        {name: file for name, file in files.items() if name not in others}
        for files, others in ((ours, theirs), (theirs, ours))
    )
    _take(found, left, right, list(right), name_pattern)
    noisy = [name for name in right if name in unstable]
    for pattern in (noisy_name_pattern, _folder_and_type, _type):
        _take(found, left, right, noisy, pattern)
    found += [(name, None) for name in left]
    found += [(None, name) for name in right]
    return found


def unstable_names(theirs: Mapping[str, File], repeated: Mapping[str, File]) -> frozenset[str]:
    """Return the names that a repetition of a run does not reproduce, of both."""
    return frozenset(theirs.keys() ^ repeated.keys())


def _take(
    found: list[tuple[str | None, str | None]],
    left: dict[str, File],
    right: dict[str, File],
    candidates: Iterable[str],
    pattern: Callable[[str], str],
) -> None:
    """Move the pairs of equal patterns to ``found``: of several the first with the first in the order of writing."""
    waiting: dict[str, list[str]] = {}
    for name in sorted((name for name in candidates if name in right), key=lambda name: (right[name].modified, name)):
        waiting.setdefault(pattern(name), []).append(name)
    for name in sorted(left, key=lambda name: (left[name].modified, name)):
        same = waiting.get(pattern(name))
        if same:
            partner = next((each for each in same if right[each].kind == left[name].kind), same[0])
            same.remove(partner)
            found.append((name, partner))
            del left[name], right[partner]


def _folder_and_type(name: str) -> str:
    return f"{posixpath.dirname(name)}/*{posixpath.splitext(name)[1]}"


def _type(name: str) -> str:
    return f"{name.count('/')}*{posixpath.splitext(name)[1]}"
