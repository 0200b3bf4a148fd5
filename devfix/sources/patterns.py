"""Gitignore patterns that match in linear time: they are a stranger's, and so are the names of the files.

pathspec translates a pattern into a regular expression, whose wildcards try all combinations: ``*a*a*a*a*b`` takes
minutes for one long name.  Here, each wildcard but the last in its part of a path takes the first place that fits, as
:mod:`fnmatch` does: what follows fits there if it fits anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pathspec

__all__ = ["is_pattern", "pattern_spec"]

_STAR = "[^/]*"  # within a name
_DEEP, _TOP = "(?:/.+)?", "(?:.+/)?"  # ``/**`` in the middle, and ``**/`` or nothing at the start
_TOKEN = re.compile(
    rf"{re.escape(_STAR)}|{re.escape(_DEEP)}|{re.escape(_TOP)}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL
)


def pattern_spec(lines: Iterable[str]) -> pathspec.GitIgnoreSpec:
    """Return the patterns of a ``.gitignore`` file.

    Raises:
        ValueError: a pattern is invalid.

    """
    import pathspec

    patterns = []
    for pattern in pathspec.GitIgnoreSpec.from_lines(lines).patterns:
        text = str(pattern.regex.pattern) if pattern.regex is not None else ""
        if text.count(_STAR) + text.count(_DEEP) + text.count(_TOP) > 1:
            pattern = type(pattern)(re.compile(_linear(text)), include=pattern.include)
        patterns.append(pattern)
    return pathspec.GitIgnoreSpec(patterns)


def is_pattern(line: str) -> bool:
    """Return whether a line is a valid pattern, blank, or a comment."""
    try:
        pattern_spec([line])
    except ValueError:
        return False
    return True


def _linear(regex: str) -> str:
    """Return an equal regular expression without backtracking into its wildcards."""
    groups = (f"w{number}" for number in range(len(regex)))
    parts = _split([token for name in _names(_TOKEN.findall(regex)) for token in _linear_name(name, groups)], _DEEP)
    done = []
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        text = "".join(part)
        if number == 0:
            is_free = _TOP in part and not is_last
            done.append(_first_fit(text.replace(_TOP, "(?:.+?/)??", 1) + "(?=/)", groups) if is_free else text)
        else:
            done.append(_DEEP + text if is_last else _first_fit(f"(?:/.+?)??{text}(?=/)", groups))
    return "".join(done)


def _names(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Yield the tokens of each name, and those between names."""
    name: list[str] = []
    for token in tokens:
        if token in ("/", _DEEP, _TOP):
            yield name
            yield [token]
            name = []
        else:
            name.append(token)
    yield name


def _linear_name(name: Sequence[str], groups: Iterator[str]) -> Iterator[str]:
    first, *others = _split(name, _STAR)
    yield from first
    for number, piece in enumerate(others):
        if number == len(others) - 1:
            yield from (_STAR, *piece)
        elif piece:
            yield _first_fit(f"[^/]*?{''.join(piece)}", groups)


def _split(tokens: Sequence[str], separator: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for token in tokens:
        if token == separator:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _first_fit(regex: str, groups: Iterator[str]) -> str:
    """Return an atomic group, as far as Python 3.10 has one: a lookahead is not entered again."""
    name = next(groups)
    return f"(?=(?P<{name}>{regex}))(?P={name})"
