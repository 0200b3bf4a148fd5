"""A patch as suggestions: for hunks that lie wholly inside what the pull request shows."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from devfix.bot.markdown import code, plain

__all__ = ["Suggestion", "marker_key", "suggestions"]

_MARKER = "<!-- devfix:suggestion={key} -->"
_KEY = re.compile(r"<!-- devfix:suggestion=([0-9a-f]{16}) -->")
_RUN = re.compile(r"`+")


@dataclass(frozen=True)
class Suggestion:
    """New lines for some lines of a file of the pull request.

    Attributes:
        path: the file.
        first, last: the lines that are replaced, counted from 1 in the file as the pull request has it.
        lines: the new ones; none to remove the old ones.
        old: the old ones.
        inside: whether the pull request shows all of them: only there a suggestion can be made.
        about: what it is for, as Markdown.

    """

    path: str
    first: int
    last: int
    lines: tuple[str, ...]
    old: tuple[str, ...]
    inside: bool
    about: str = ""

    @property
    def key(self) -> str:
        """The same for the same change of the same text, wherever it has gone in its file."""
        said = "\0".join([self.path, *self.old, "", *self.lines])
        return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def body(self, language: str = "suggestion") -> str:
        """The comment, as Markdown; ``language`` is what the host knows a suggestion by."""
        fence = "`" * max(3, 1 + max((len(run) for line in self.lines for run in _RUN.findall(line)), default=0))
        text = "".join(f"{line}\n" for line in self.lines)
        return f"{self.about}\n\n{fence}{language}\n{text}{fence}\n\n{_MARKER.format(key=self.key)}"


def marker_key(body: str) -> str:
    """The key of the suggestion that a comment holds; empty where it is none of ours."""
    found = _KEY.findall(body)  # the last one is ours: what stands before may be told by the code
    return found[-1] if found else ""


def suggestions(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    shown: Mapping[str, Collection[int]],
    findings: Sequence[Mapping[str, Any]],
) -> list[Suggestion]:
    """The hunks of a patch, in the order of files and lines.

    Args:
        before: the files as the pull request has them.
        after: the files as they are to be.
        shown: the lines of the new side that the pull request shows, by path.
        findings: as in schema/artifact-1.json, for what suggestions are about.

    """
    return [
        suggestion
        for path in sorted(before)
        for suggestion in _of_file(path, before[path], after[path], shown.get(path, ()), findings)
    ]


def _of_file(
    path: str, before: bytes, after: bytes, shown: Collection[int], findings: Sequence[Mapping[str, Any]]
) -> Iterator[Suggestion]:
    try:
        old, new = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        old, new = before.decode("latin-1"), after.decode("latin-1")
        shown = ()
    if "\r" in old or path.endswith(".ipynb"):  # hosts write suggestions with LF; and nobody reads a notebook's JSON
        shown = ()
    old_lines, new_lines = old.removesuffix("\n").split("\n"), new.removesuffix("\n").split("\n")
    for a1, a2, b1, b2 in _stretches(old_lines, new_lines, shown):
        yield Suggestion(
            path,
            a1 + 1,
            a2,
            tuple(new_lines[b1:b2]),
            tuple(old_lines[a1:a2]),
            all(line in shown for line in range(a1 + 1, a2 + 1)),
            _about(path, a1 + 1, a2, findings),
        )


def _stretches(old: list[str], new: list[str], shown: Collection[int]) -> Iterator[tuple[int, int, int, int]]:
    """What is replaced by what; lines that are only added take a neighbour along, the one that is shown if one is."""
    found: list[tuple[int, int, int, int]] = []
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if a1 == a2:
            above = a1 > 0 and (a1 in shown or a1 == len(old) or a1 + 1 not in shown)
            a1, a2, b1, b2 = (a1 - 1, a2, b1 - 1, b2) if above else (a1, a2 + 1, b1, b2 + 1)
        if found and found[-1][1] >= a1:  # both took the same line along
            first = found.pop()
            a1, b1 = first[0], first[2]
        found.append((a1, a2, b1, b2))
    return iter(found)


def _about(path: str, first: int, last: int, findings: Sequence[Mapping[str, Any]]) -> str:
    """What the repaired findings near these lines say."""
    fixed = [item for item in findings if item["status"] == "fixed"]

    def near(item: Mapping[str, Any]) -> bool:
        places = [(item["path"], item["line"]), *((each["path"], each["line"]) for each in item["lines"])]
        return any(where == path and first - 1 <= line <= last + 1 for where, line in places)

    named = [item for item in fixed if near(item)] or [item for item in fixed if item["path"] == path] or fixed
    lines = [f"**{item['code']}** {plain(item['message'])}" for item in named[:3]]
    return "  \n".join(dict.fromkeys(lines)) or f"Part of the repair in {code(path)}"
