"""Fingerprints, which identify a finding after other lines of its file have changed."""

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
_WINDOW = 100  # UTF-16 code units from the start of the line, without spaces and tabs
_FACTOR = 37
_BITS = (1 << 64) - 1
_END = "\uffff"  # appended to the text


def fingerprints(view: View, findings: Sequence[Finding]) -> list[str]:
    """Return a unique digest for each finding, from its rule, file and source line; equal ones are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        line = view.texts.lines(finding.path)[finding.span.line].strip()
        key = digest(finding.code, view.name(finding.path), line)
        seen[key] += 1
        found.append(key if seen[key] == 1 else digest(key, str(seen[key])))
    return found


def line_hashes(raw: bytes, wanted: Iterable[int]) -> dict[int, str]:
    """Return GitHub code scanning's line hashes by line number.

    GitHub's upload action computes them; reports uploaded in another way must contain them.  A counter distinguishes
    lines with equal windows.
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
