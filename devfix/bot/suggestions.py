"""Review suggestions made from a patch, for groups of hunks that the pull request's diff shows completely."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from devfix.bot.hunk_groups import HunkGroup
from devfix.bot.markdown import code, fenced, has_invisible, plain
from devfix.bot.patch import Hunk, decode_lines

__all__ = ["Suggestion", "build_suggestions", "marker_key"]

_MARKER = "<!-- devfix:suggestion={key} -->"
_KEY = re.compile(r"<!-- devfix:suggestion=([0-9a-f]{16}) -->")
_BACKTICKS = re.compile(r"`+")
_MAX_SPAN = 25  # lines from the first to the last hunk of a group
_MAX_DESCRIBED = 3  # findings that a comment names


@dataclass(frozen=True)
class Suggestion:
    """A replacement of lines of a file in the pull request.

    Attributes:
        path: the file.
        first, last: the replaced lines, counted from 1 in the pull request's version of the file.
        lines: the new lines; empty to delete the old ones.
        old: the old lines.
        is_visible: whether the pull request's diff shows all replaced lines, which forges require.
        description: the findings it fixes, as Markdown.

    """

    path: str
    first: int
    last: int
    lines: tuple[str, ...]
    old: tuple[str, ...]
    is_visible: bool
    description: str = ""

    @property
    def key(self) -> str:
        """Identifier of the change, independent of its position in the file."""
        content = "\0".join([self.path, *self.old, "", *self.lines])
        return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def body(self, language: str = "suggestion") -> str:
        """Return the comment as Markdown; ``language`` is the forge's info string of a suggestion block."""
        fence = "`" * max(3, 1 + max((len(run) for line in self.lines for run in _BACKTICKS.findall(line)), default=0))
        text = "".join(f"{line}\n" for line in self.lines)
        return f"{self.description}\n\n{fence}{language}\n{text}{fence}\n\n{_MARKER.format(key=self.key)}"

    def as_diff(self) -> str:
        """Return the comment as Markdown, with a diff, for forges without suggestion blocks."""
        text = "".join([*(f"-{line}\n" for line in self.old), *(f"+{line}\n" for line in self.lines)])
        return f"{self.description}\n\n{fenced(text, 'diff')}\n{_MARKER.format(key=self.key)}"


def marker_key(body: str) -> str:
    """Return the key of the suggestion in a comment; empty if it has none."""
    found = _KEY.findall(body)  # the last one is the bot's: earlier ones may be quoted from code
    return found[-1] if found else ""


def build_suggestions(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    hunks: Sequence[Hunk],
    visible: Mapping[str, Collection[int]],
    findings: Sequence[Mapping[str, Any]],
    groups: Sequence[HunkGroup] = (),
) -> list[Suggestion]:
    """Turn a patch into suggestions, in the order of files and lines.

    A group of hunks becomes one suggestion; if the diff does not show it completely, each hunk becomes a hidden one.

    Args:
        before: the files in the pull request.
        after: the files after the patch.
        hunks: the hunks of the patch.
        visible: the lines on the new side of the pull request's diff, by path.
        findings: findings as in schema/artifact-2.json, for descriptions.
        groups: positions of hunks that must be applied together; unless they name each hunk once, all hunks
            form one group.

    """
    texts = {path: _Text.of(path, before[path], after[path], visible.get(path, ())) for path in sorted(before)}
    found = {hunk.position: hunk for hunk in hunks}
    if sorted(position for group in groups for position in group) != sorted(found):
        groups = [tuple(found)]
    selected = [[found[position] for position in group] for group in groups if group]
    fixed = _FixedFindings(findings)
    made = [text.suggestion(span, is_visible, fixed) for text, span, is_visible in _locate(selected, texts)]
    return sorted(made, key=lambda each: (each.path, each.first))


@dataclass(frozen=True)
class _Span:
    """Old lines, counted from 0, and the new lines that replace them."""

    a1: int
    a2: int
    b1: int
    b2: int

    def cover(self, other: _Span) -> _Span:
        """Return the smallest span that contains both."""
        return _Span(*(pick(getattr(self, name), getattr(other, name)) for name, pick in _BOUNDS))


_BOUNDS = (("a1", min), ("a2", max), ("b1", min), ("b2", max))


class _FixedFindings:
    """The fixed findings by file and by line.

    Args:
        findings: findings as in schema/artifact-2.json.

    """

    def __init__(self, findings: Sequence[Mapping[str, Any]]) -> None:
        self._all = [item for item in findings if item["status"] == "fixed"]
        self._by_path: dict[str, list[int]] = {}
        self._by_line: dict[tuple[str, int], list[int]] = {}
        for index, item in enumerate(self._all):
            self._by_path.setdefault(item["path"], []).append(index)
            for place in (item, *item["lines"]):
                self._by_line.setdefault((place["path"], place["line"]), []).append(index)

    def describe(self, path: str, first: int, last: int) -> str:
        """Return the messages of the fixed findings near these lines."""
        near = {index for line in range(first - 1, last + 2) for index in self._by_line.get((path, line), ())}
        indices = sorted(near) or self._by_path.get(path) or range(len(self._all))
        shown = [self._all[index] for index in indices[:_MAX_DESCRIBED]]
        lines = [f"**{item['code']}** {plain(item['message'])}" for item in shown]
        return "  \n".join(dict.fromkeys(lines)) or f"Part of the fix in {code(path)}"


@dataclass(frozen=True)
class _Text:
    """A file before and after, and its lines in the pull request's diff."""

    path: str
    old: list[str]
    new: list[str]
    visible: Collection[int]

    @classmethod
    def of(cls, path: str, before: bytes, after: bytes, visible: Collection[int]) -> _Text:
        old, new, is_utf8 = decode_lines(before, after)
        if not is_utf8 or b"\r" in before or path.endswith(".ipynb"):
            visible = ()  # forges write UTF-8 and LF; JSON of notebooks is unreadable
        return cls(path, old, new, visible)

    def span(self, hunk: Hunk) -> _Span:
        """Return the lines of a hunk; an insertion includes a neighbouring line, a visible one if possible."""
        a1, a2, b1, b2 = hunk.a1, hunk.a2, hunk.b1, hunk.b2
        if a1 < a2:
            return _Span(a1, a2, b1, b2)
        above = a1 > 0 and (a1 in self.visible or a1 == len(self.old) or a1 + 1 not in self.visible)
        return _Span(a1 - 1, a2, b1 - 1, b2) if above else _Span(a1, a2 + 1, b1, b2 + 1)

    def shows(self, span: _Span) -> bool:
        """Whether the diff shows all replaced lines, and a reader sees all characters of the new ones."""
        is_shown = all(line in self.visible for line in range(span.a1 + 1, span.a2 + 1))
        return is_shown and not any(map(has_invisible, self.new[span.b1 : span.b2]))

    def suggestion(self, span: _Span, is_visible: bool, findings: _FixedFindings) -> Suggestion:
        lines, old = tuple(self.new[span.b1 : span.b2]), tuple(self.old[span.a1 : span.a2])
        description = findings.describe(self.path, span.a1 + 1, span.a2)
        return Suggestion(self.path, span.a1 + 1, span.a2, lines, old, is_visible, description)


def _locate(groups: Sequence[Sequence[Hunk]], texts: Mapping[str, _Text]) -> Iterator[tuple[_Text, _Span, bool]]:
    """Yield the file and span of each suggestion, and whether it is visible: one group, in one region of one file."""
    by_path: dict[str, list[tuple[_Span, list[_Span]]]] = {}
    for group in groups:
        located = [(hunk.path, texts[hunk.path].span(hunk)) for hunk in group]
        if len({path for path, _ in located}) != 1:
            yield from ((texts[path], span, False) for path, span in located)
            continue
        spans = [span for _, span in located]
        by_path.setdefault(located[0][0], []).append((functools.reduce(_Span.cover, spans), spans))
    for path, found in by_path.items():
        for span, spans in _merge_overlapping(found):
            is_near = len(spans) == 1 or span.a2 - span.a1 <= _MAX_SPAN
            if is_near and texts[path].shows(span):
                yield texts[path], span, True
            else:
                yield from ((texts[path], each, False) for each in spans)


def _merge_overlapping(found: Sequence[tuple[_Span, list[_Span]]]) -> list[tuple[_Span, list[_Span]]]:
    """Merge groups of one file that share lines."""
    merged: list[tuple[_Span, list[_Span]]] = []
    for span, spans in sorted(found, key=lambda each: each[0].a1):
        if merged and merged[-1][0].a2 > span.a1:
            previous, previous_spans = merged.pop()
            span, spans = previous.cover(span), [*previous_spans, *spans]
        merged.append((span, spans))
    return merged
