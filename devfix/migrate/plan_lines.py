"""Line numbers of the keys of a TOML file, which the standard library's parser does not report."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["Lines"]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_.-]+))\s*=""")
_MULTILINE_QUOTES = ('"""', "'''")


class Lines:
    """Line numbers of keys by path: ``("repository", 1, "ref")`` is ``ref`` of the second ``[[repository]]``.

    Args:
        text: valid TOML.

    """

    def __init__(self, text: str) -> None:
        self._lines: dict[tuple[str | int, ...], int] = {}
        table: tuple[str | int, ...] = ()
        counts: Counter[str] = Counter()
        open_quotes = ""  # the quotes of an unclosed multi-line string
        for number, line in enumerate(text.splitlines(), 1):
            if open_quotes:
                open_quotes = "" if line.count(open_quotes) % 2 else open_quotes
                continue
            header, key = _HEADER.match(line), _KEY.match(line)
            if header is not None:
                table = self._table(header[1], header[2], counts)
                self._lines.setdefault(table, number)
            elif key is not None:
                name = key[1] or key[2] or key[3]
                self._lines.setdefault((*table, *name.split(".")), number)
            open_quotes = next((quotes for quotes in _MULTILINE_QUOTES if line.count(quotes) % 2), "")

    def line_of(self, *path: str | int) -> int:
        """Return the line of a key, or of the nearest enclosing table; 0 if neither is known."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 0)

    @staticmethod
    def _table(brackets: str, name: str, counts: Counter[str]) -> tuple[str | int, ...]:
        parts: list[str | int] = [part.strip().strip("\"'") for part in name.split(".")]
        first = str(parts[0])
        if brackets == "[[":
            counts[first] += 1
        if counts[first]:
            parts.insert(1, counts[first] - 1)
        return tuple(parts)
