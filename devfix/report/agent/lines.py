"""Parts of the reports for agents: hunks without context, limits that name what they leave out, and the last line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

from devfix import sources
from devfix.report.sanitize import printable

__all__ = ["MOST_FINDINGS", "cut", "hunk_lines", "last_line", "limited", "text_of"]

#: Findings, causes or problems in a report.
MOST_FINDINGS = 20
_MOST_LINES = 24  # of the hunks of a finding
_LONGEST = 240  # characters of a line of code, or of a message


def cut(text: str, longest: int = _LONGEST) -> str:
    """Return a text on one line, cut at a length; the end counts the characters that are left out."""
    shown = printable(text)
    return shown if len(shown) <= longest else f"{shown[:longest]}… ({len(shown) - longest} more characters)"


def hunk_lines(changes: Iterable[tuple[str, str, str]], whole: str) -> Iterator[str]:
    """Yield the hunks of changed files, without context.

    Args:
        changes: the name of each file, its old text and its new text.
        whole: the command that shows all lines if the limit leaves some out.

    """
    lines = []
    for path, old, new in changes:
        before, after = old.splitlines(), new.splitlines()
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag != "equal":
                lines.append(f"@@ {printable(path)}:{i1 + 1}")
                lines += [f"-{cut(line)}" for line in before[i1:i2]]
                lines += [f"+{cut(line)}" for line in after[j1:j2]]
    yield from limited(lines, _MOST_LINES, f"lines; all: {whole}")


def text_of(path: str, raw: bytes) -> str:
    """Return the text of a source file, or of the file of a notebook."""
    return sources.as_text(raw) if path.endswith(sources.NOTEBOOK) else sources.decode(path, raw).text


def limited(lines: Sequence[str], most: int, rest: str) -> Iterator[str]:
    """Yield at most so many lines, and a line that counts the others."""
    yield from lines[:most]
    if len(lines) > most:
        yield f"… {len(lines) - most} more {rest}"


def last_line(told: str, command: str, more: str = "") -> str:
    """Return the last line.

    Args:
        told: counts, or the verdict.
        command: the next command; empty if nothing is left to do.
        more: a clause after the command.

    """
    return f"devfix: {told}; next: {command or 'nothing to do'}" + (f"; {more}" if more else "")
