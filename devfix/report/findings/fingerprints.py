"""What makes a finding the same one after other lines of its file have moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from devfix.model import Finding
from devfix.sources.digest import digest

if TYPE_CHECKING:
    from devfix.report.view import View

__all__ = ["fingerprints", "line_hashes"]

# GitHub's hash of a line: https://github.com/github/codeql-action/blob/main/src/fingerprints.ts
_WINDOW = 100  # UTF-16 code units from the start of the line, of those that are neither blanks nor tabs
_FACTOR = 37
_BITS = (1 << 64) - 1
_END = "\uffff"  # stands behind the last one


def fingerprints(view: View, findings: Sequence[Finding]) -> list[str]:
    """Of each finding a name that is unique among them: its rule, file and source line, and which of several it is."""
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        line = view.texts.lines(finding.path)[finding.span.line].strip()
        own = digest(finding.code, view.name(finding.path), line)
        seen[own] += 1
        found.append(own if seen[own] == 1 else digest(own, str(seen[own])))
    return found


def line_hashes(raw: bytes, wanted: Iterable[int]) -> dict[int, str]:
    """The hashes under which code scanning knows lines again, by number.

    It computes them itself where its own action uploads a report; one that comes another way has to bring them.
    Lines that look alike for a hundred characters are told apart by a count.
    """
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace(" ", "").replace("\t", "") + _END
    if not text.isascii():
        units = text.encode("utf-16-le", "surrogatepass")
        text = "".join(chr(low | high << 8) for low, high in zip(units[::2], units[1::2], strict=True))
    numbers = set(wanted)
    seen: Counter[str] = Counter()
    found: dict[int, str] = {}
    start, number = 0, 1
    while start < len(text):
        window = text[start : start + _WINDOW].ljust(_WINDOW, "\0")
        seen[window] += 1
        if number in numbers:
            found[number] = f"{_hash(window):x}:{seen[window]}"
        start, number = text.find("\n", start) + 1, number + 1
        if not start:
            break
    return found


def _hash(window: str) -> int:
    value = 0
    for unit in window:
        value = (value * _FACTOR + ord(unit)) & _BITS
    return value
