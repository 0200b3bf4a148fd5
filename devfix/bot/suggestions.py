"""A patch as suggestions: for hunks that belong together and lie wholly inside what the pull request shows."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from devfix.bot.hunk_groups import Hunk, Part, hunks, lines_of
from devfix.bot.markdown import code, plain

__all__ = ["Suggestion", "marker_key", "suggestions"]

_MARKER = "<!-- devfix:suggestion={key} -->"
_KEY = re.compile(r"<!-- devfix:suggestion=([0-9a-f]{16}) -->")
_RUN = re.compile(r"`+")
_MOST_LINES = 25  # of hunks that belong together, and what lies between


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
    parts: Sequence[Part] = (),
) -> list[Suggestion]:
    """What a patch does, in the order of files and lines; what belongs together is one suggestion, or none.

    Args:
        before: the files as the pull request has them.
        after: the files as they are to be.
        shown: the lines of the new side that the pull request shows, by path.
        findings: as in schema/artifact-2.json, for what suggestions are about.
        parts: which hunks belong together; all of them where this does not name each hunk once.

    """
    texts = {path: _Text.of(path, before[path], after[path], shown.get(path, ())) for path in sorted(before)}
    found = {hunk.place: hunk for path in texts for hunk in hunks(path, before[path], after[path])}
    if sorted(place for part in parts for place in part) != sorted(found):
        parts = [tuple(found)]
    wanted = [[found[place] for place in part] for part in parts if part]
    made = [text.suggestion(span, inside, findings) for text, span, inside in _placed(wanted, texts)]
    return sorted(made, key=lambda each: (each.path, each.first))


@dataclass(frozen=True)
class _Span:
    """Old lines, counted from 0, and the new ones that replace them."""

    a1: int
    a2: int
    b1: int
    b2: int

    def to(self, other: _Span) -> _Span:
        """Both, and what lies between."""
        return _Span(*(pick(getattr(self, name), getattr(other, name)) for name, pick in _ENDS))


_ENDS = (("a1", min), ("a2", max), ("b1", min), ("b2", max))


@dataclass(frozen=True)
class _Text:
    """A file before and after, and the lines of it that the pull request shows."""

    path: str
    old: list[str]
    new: list[str]
    shown: Collection[int]

    @classmethod
    def of(cls, path: str, before: bytes, after: bytes, shown: Collection[int]) -> _Text:
        old, new, fits = lines_of(before, after)
        if not fits or b"\r" in before or path.endswith(".ipynb"):
            shown = ()  # hosts write suggestions in UTF-8 and with LF; and nobody reads a notebook's JSON
        return cls(path, old, new, shown)

    def span(self, hunk: Hunk) -> _Span:
        """The lines of a hunk; what is only added takes a neighbour along, the one that is shown if one is."""
        a1, a2, b1, b2 = hunk.a1, hunk.a2, hunk.b1, hunk.b2
        if a1 < a2:
            return _Span(a1, a2, b1, b2)
        above = a1 > 0 and (a1 in self.shown or a1 == len(self.old) or a1 + 1 not in self.shown)
        return _Span(a1 - 1, a2, b1 - 1, b2) if above else _Span(a1, a2 + 1, b1, b2 + 1)

    def shows(self, span: _Span) -> bool:
        return all(line in self.shown for line in range(span.a1 + 1, span.a2 + 1))

    def suggestion(self, span: _Span, inside: bool, findings: Sequence[Mapping[str, Any]]) -> Suggestion:
        lines, old = tuple(self.new[span.b1 : span.b2]), tuple(self.old[span.a1 : span.a2])
        about = _about(self.path, span.a1 + 1, span.a2, findings)
        return Suggestion(self.path, span.a1 + 1, span.a2, lines, old, inside, about)


def _placed(parts: Sequence[Sequence[Hunk]], texts: Mapping[str, _Text]) -> Iterator[tuple[_Text, _Span, bool]]:
    """Where the suggestions are, and whether they can be made: a part that lies in one place of one file."""
    whole: dict[str, list[tuple[_Span, list[_Span]]]] = {}
    for part in parts:
        spans = [(hunk.path, texts[hunk.path].span(hunk)) for hunk in part]
        if len({path for path, _ in spans}) != 1:
            yield from ((texts[path], span, False) for path, span in spans)
            continue
        own = [span for _, span in spans]
        whole.setdefault(spans[0][0], []).append((functools.reduce(_Span.to, own), own))
    for path, found in whole.items():
        for span, own in _apart(found):
            near = len(own) == 1 or span.a2 - span.a1 <= _MOST_LINES
            if near and texts[path].shows(span):
                yield texts[path], span, True
            else:
                yield from ((texts[path], each, False) for each in own)


def _apart(found: Sequence[tuple[_Span, list[_Span]]]) -> list[tuple[_Span, list[_Span]]]:
    """Parts of one file, as one where they have lines in common."""
    made: list[tuple[_Span, list[_Span]]] = []
    for span, own in sorted(found, key=lambda each: each[0].a1):
        if made and made[-1][0].a2 > span.a1:
            known, others = made.pop()
            span, own = known.to(span), [*others, *own]
        made.append((span, own))
    return made


def _about(path: str, first: int, last: int, findings: Sequence[Mapping[str, Any]]) -> str:
    """What the repaired findings near these lines say."""
    fixed = [item for item in findings if item["status"] == "fixed"]

    def near(item: Mapping[str, Any]) -> bool:
        places = [(item["path"], item["line"]), *((each["path"], each["line"]) for each in item["lines"])]
        return any(where == path and first - 1 <= line <= last + 1 for where, line in places)

    named = [item for item in fixed if near(item)] or [item for item in fixed if item["path"] == path] or fixed
    lines = [f"**{item['code']}** {plain(item['message'])}" for item in named[:3]]
    return "  \n".join(dict.fromkeys(lines)) or f"Part of the repair in {code(path)}"
