"""Escaping of untrusted text: no mark-up, mentions, links or commands."""

from __future__ import annotations

import re

__all__ = ["code", "fenced", "plain"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_MENTION = re.compile(r"@(?=[\w-])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")
_CODE = re.compile(r"`([^`]+)`")
_LINKED = re.compile(r"(?<=#)(?=\w)|(?<=\bGH)(?=-\d)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_BREAK = "\u200b"  # after @, so that nobody is mentioned


def plain(text: str) -> str:
    """Return one line of escaped text; text between backticks stays code."""
    text = _CONTROL.sub(" ", text)
    parts, at = [], 0
    for found in _CODE.finditer(text):
        parts += [_escaped(text[at : found.start()]), code(found[1])]
        at = found.end()
    return "".join([*parts, _escaped(text[at:])])


def code(text: str) -> str:
    """Return one line of code, safe in a table cell."""
    text = _CONTROL.sub(" ", text).replace("|", "\u2502")  # a pipe ends the cell, even in code
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return a code block with a fence longer than any backtick run in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}\n"


def _escaped(text: str) -> str:
    text = _LINKED.sub(_BREAK, text)  # GitHub links these despite a backslash
    text = _SPECIAL.sub(r"\\\1", text)
    text = text.replace("://", f":{_BREAK}//")  # prevents links, which notify other repositories
    return _MENTION.sub(f"@{_BREAK}", text)
