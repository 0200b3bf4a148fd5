"""Insertion of lines into a file, with its line endings."""

from __future__ import annotations

__all__ = ["append_lines", "insert_lines"]


def append_lines(old: bytes, text: str) -> bytes:
    """Return the file with ``text`` at its end, after a blank line."""
    newline = _newline(old)
    gap = b""
    if old.strip():
        gap = newline if old.endswith(b"\n") else newline * 2
    return old + gap + text.encode().replace(b"\n", newline)


def insert_lines(old: bytes, line: int, text: str) -> bytes:
    """Return the file with ``text`` before a line, counted from 0."""
    newline = _newline(old)
    lines = old.splitlines(keepends=True)
    before, after = b"".join(lines[:line]), b"".join(lines[line:])
    if before and not before.endswith((b"\n", b"\r")):
        before += newline
    return before + text.encode().replace(b"\n", newline) + after


def _newline(raw: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in raw else b"\n"
