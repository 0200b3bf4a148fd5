"""Escaping of untrusted text: no mark-up, mentions, links, references or commands, on GitHub, GitLab and Forgejo.

https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
https://docs.gitlab.com/user/markdown/#gitlab-specific-references
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["code", "fenced", "has_invisible", "one_line", "plain"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_CODE = re.compile(r"`([^`]+)`")
#: Where forges link despite a backslash: after @ (people), # (issues), ! (merge requests), % (milestones), ~ (labels),
#: $ (snippets), & (epics), ^ (alerts); GH-7, and addresses without a scheme.
_LINKED = re.compile(r"(?<=[@#!%~$&^])(?=[\w\"'{-])|(?<=\bGH)(?=-\d)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_HASH = re.compile(r"((?<!\w)[0-9a-f]{7,}(?!\w))", re.IGNORECASE)  # commits, which forges link except in code
_BREAK = "\u200b"  # zero width: the text stays readable
#: Categories of control characters, format characters (directions, joiners, tags), line and paragraph separators.
_INVISIBLE = ("Cc", "Cf", "Zl", "Zp")
_HIDDEN = "\0"
_HIDDEN_RUN = re.compile(f"{_HIDDEN}+")
_LAYOUT = str.maketrans("", "", "\t\n\r")


class _Hidden(dict[int, str]):
    """Maps invisible characters to one of them, and others to themselves."""

    def __missing__(self, number: int) -> str:
        character = chr(number)
        self[number] = _HIDDEN if unicodedata.category(character) in _INVISIBLE else character
        return self[number]


_hidden = _Hidden()


def one_line(text: str) -> str:
    """Return the text with a blank in place of each run of invisible characters, such as line ends and directions."""
    return _HIDDEN_RUN.sub(" ", text.translate(_hidden))


def has_invisible(text: str) -> bool:
    """Whether a text has invisible characters other than tabs and line ends: it may not be what it looks like."""
    return _HIDDEN in text.translate(_LAYOUT).translate(_hidden)


def plain(text: str) -> str:
    """Return one line of escaped text; text between backticks stays code, and commits become code."""
    text = one_line(text)
    parts, at = [], 0
    for found in _CODE.finditer(text):
        parts += [*_escaped(text[at : found.start()]), code(found[1])]
        at = found.end()
    return _joined([*parts, *_escaped(text[at:])])


def code(text: str) -> str:
    """Return one line of code, safe in a table cell."""
    text = one_line(text).replace("|", "\u2502")  # a pipe ends the cell, even in code
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return a code block with a fence longer than any backtick run in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}\n"


def _escaped(text: str) -> list[str]:
    parts = _HASH.split(text)
    return [code(part) if index % 2 else _escaped_words(part) for index, part in enumerate(parts)]


def _escaped_words(text: str) -> str:
    text = _LINKED.sub(_BREAK, text)
    text = _SPECIAL.sub(r"\\\1", text)
    return text.replace("://", f":{_BREAK}//")  # prevents links, which notify other repositories


def _joined(parts: list[str]) -> str:
    """Join the parts; backticks of neighbours stay apart."""
    text = ""
    for part in filter(None, parts):
        text += f"{_BREAK}{part}" if text.endswith("`") and part.startswith("`") else part
    return text
