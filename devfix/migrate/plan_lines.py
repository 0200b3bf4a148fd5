"""Where the keys of a TOML file stand: the parser of the standard library does not tell."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["Lines"]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_.-]+))\s*=""")
_LONG = ('"""', "'''")


class Lines:
    """Lines of keys by their path: ``("repository", 1, "ref")`` is ``ref`` of the second ``[[repository]]``.

    Args:
        text: of a valid TOML file.

    """

    def __init__(self, text: str) -> None:
        self._known: dict[tuple[str | int, ...], int] = {}
        table: tuple[str | int, ...] = ()
        counts: Counter[str] = Counter()
        inside = ""  # the quotes of a string of several lines
        for number, line in enumerate(text.splitlines(), 1):
            if inside:
                inside = "" if line.count(inside) % 2 else inside
                continue
            header, key = _HEADER.match(line), _KEY.match(line)
            if header is not None:
                table = self._table(header[1], header[2], counts)
                self._known.setdefault(table, number)
            elif key is not None:
                name = key[1] or key[2] or key[3]
                self._known.setdefault((*table, *name.split(".")), number)
            inside = next((quotes for quotes in _LONG if line.count(quotes) % 2), "")

    def of(self, *path: str | int) -> int:
        """The line of a key, or of the nearest table that holds it; 0 where neither is known."""
        while path and path not in self._known:
            path = path[:-1]
        return self._known.get(path, 0)

    @staticmethod
    def _table(brackets: str, name: str, counts: Counter[str]) -> tuple[str | int, ...]:
        parts: list[str | int] = [part.strip().strip("\"'") for part in name.split(".")]
        first = str(parts[0])
        if brackets == "[[":
            counts[first] += 1
        if counts[first]:
            parts.insert(1, counts[first] - 1)
        return tuple(parts)
