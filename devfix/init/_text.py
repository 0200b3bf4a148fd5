"""Lines that are added to a file of others, in its own newlines."""

from __future__ import annotations

__all__ = ["appended", "inserted"]


def appended(old: bytes, text: str) -> bytes:
    """``text`` at the end of a file, behind an empty line."""
    newline = _newline(old)
    gap = b""
    if old.strip():
        gap = newline if old.endswith(b"\n") else newline * 2
    return old + gap + text.encode().replace(b"\n", newline)


def inserted(old: bytes, line: int, text: str) -> bytes:
    """``text`` ahead of a line, which counts from 0."""
    newline = _newline(old)
    lines = old.splitlines(keepends=True)
    before, after = b"".join(lines[:line]), b"".join(lines[line:])
    if before and not before.endswith((b"\n", b"\r")):
        before += newline
    return before + text.encode().replace(b"\n", newline) + after


def _newline(raw: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in raw else b"\n"
