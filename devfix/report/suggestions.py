"""What repairs each finding, as replacements in the text that was read.

A repair is taken from what the engine has tried and kept, never from a fix alone.  Several repairs of a file stand
beside each other only where all of them together give the very bytes of the patch; else the first finding has the
patch of the file, and the others name that finding.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from devfix import sources
from devfix.engine.scan import Identity, identity
from devfix.model import Applicability, FileChange, Finding, Outcome, Resolution, Status
from devfix.report.positions import Lines, Texts

__all__ = ["Suggestion", "Suggestions", "Replacement", "applied", "suggestions_of", "replacements"]


#: Findings of one file, or of files that change together, that are taken apart: each costs a walk through the file.
_MOST_TOGETHER = 50


@dataclass(frozen=True)
class Replacement:
    """``text`` in the place of what stands from ``start`` to ``end``, offsets in code points of the decoded text."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Suggestion:
    """What repairs a finding: what to do, how safe it is, and the replacements by file and place."""

    title: str
    applicability: Applicability
    replacements: tuple[Replacement, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it changes."""
        return tuple(sorted({each.path for each in self.replacements}))


@dataclass(frozen=True)
class Suggestions:
    """Fixes by finding.

    Attributes:
        own: the fix of a finding.
        along: of a finding that has none, the one whose fix repairs it along.

    """

    own: Mapping[Identity, Suggestion] = field(default_factory=dict)
    along: Mapping[Identity, Finding] = field(default_factory=dict)

    def of(self, finding: Finding) -> Suggestion | None:
        """The fix of a finding; None where it has none of its own."""
        return self.own.get(identity(finding))


def suggestions_of(outcome: Outcome, texts: Texts) -> Suggestions:
    """The fixes of the findings that a patch repairs."""
    fixed = [item for item in outcome.resolutions if item.status is Status.FIXED]
    changes = {change.path: change for change in outcome.patch.files}
    own: dict[Identity, Suggestion] = {}
    along: dict[Identity, Finding] = {}
    for items, paths in _together(fixed, changes):
        parts = _parts(items, [changes[path] for path in paths], texts)
        if parts is None:
            first, *others = items
            whole = [each for path in paths for each in _whole(changes[path])]
            if whole:
                own[identity(first.finding)] = _fix(first, whole, len(others))
                along.update({identity(other.finding): first.finding for other in others})
            continue
        for item, replaced in zip(items, parts, strict=True):
            if replaced:
                own[identity(item.finding)] = _fix(item, replaced)
    return Suggestions(own, along)


def _fix(item: Resolution, replaced: Sequence[Replacement], others: int = 0) -> Suggestion:
    fix = item.fix or item.finding.fixes[0]
    along = f", with the repair of {others} more" if others else ""
    return Suggestion(fix.title + along, fix.applicability, tuple(replaced))


def _together(
    fixed: Sequence[Resolution], changes: Mapping[str, FileChange]
) -> Iterator[tuple[list[Resolution], list[str]]]:
    """Findings that change the same files, directly or by way of others, and these files."""
    group: dict[str, str] = {path: path for path in changes}

    def head(path: str) -> str:
        while group[path] != path:
            path = group[path]
        return path

    named = [(item, [path for path in _paths(item) if path in changes]) for item in fixed]
    for _, paths in named:
        for path in paths[1:]:
            group[head(path)] = head(paths[0])
    members: dict[str, list[Resolution]] = {}
    for item, paths in named:
        if paths:
            members.setdefault(head(paths[0]), []).append(item)
    files: dict[str, list[str]] = {}
    for path in changes:
        files.setdefault(head(path), []).append(path)
    for path, items in members.items():
        yield items, files[path]


def _paths(item: Resolution) -> tuple[str, ...]:
    return item.fix.paths if item.fix is not None else (item.finding.path,)


def _parts(items: Sequence[Resolution], changes: Sequence[FileChange], texts: Texts) -> list[list[Replacement]] | None:
    """The replacements of each finding, where all together give the patch; None where they do not."""
    if len(items) == 1:
        return [[each for change in changes for each in _whole(change)]]
    if len(items) > _MOST_TOGETHER:
        return None
    from devfix.rewrite import RewriteError, Rewriter

    parts: list[list[Replacement]] = [[] for _ in items]
    for change in changes:
        file = texts.file(change.path)
        if file is None or change.path.endswith(sources.NOTEBOOK):
            return None
        rewriter = Rewriter(file.text)
        for item, part in zip(items, parts, strict=True):
            wanted = item.fix
            fix = next((each for each in item.finding.fixes if wanted and each.title == wanted.title), None)
            edits = [edit for edit in fix.edits if edit.path == change.path] if fix is not None else []
            try:
                part.extend(replacements(change.path, file.text, rewriter.rewrite(edits)) if edits else ())
            except RewriteError:
                return None
        mine = [each for part in parts for each in part if each.path == change.path]
        new = applied(file.text, mine)
        if new is None or sources.encode(file, new) != change.new:
            return None
    return parts


def _whole(change: FileChange) -> list[Replacement]:
    if change.path.endswith(sources.NOTEBOOK):  # as it lies on the disk
        return replacements(change.path, sources.as_text(change.old), sources.as_text(change.new))
    old, new = sources.decode(change.path, change.old), sources.decode(change.path, change.new)
    return replacements(change.path, old.text, new.text)


def applied(text: str, replaced: Sequence[Replacement]) -> str | None:
    """A text after replacements; None where two of them touch the same place."""
    made, at, last = [], 0, -1
    for each in sorted(replaced, key=lambda item: (item.start, item.end)):
        if each.start < at or each.start == last:
            return None
        made += [text[at : each.start], each.text]
        at, last = each.end, each.start
    return "".join([*made, text[at:]])


def replacements(path: str, old: str, new: str) -> list[Replacement]:
    """The few places in which two texts differ."""
    lines, others = Lines(old).whole(), Lines(new).whole()
    head = _shared(lines, others, min(len(lines), len(others)))
    tail = _shared(lines[::-1], others[::-1], min(len(lines), len(others)) - head)
    start = sum(map(len, lines[:head]))
    before, after = lines[head : len(lines) - tail], others[head : len(others) - tail]
    offsets = [start]
    for line in before:
        offsets.append(offsets[-1] + len(line))
    found = []
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, before, after).get_opcodes():
        if tag == "equal":
            continue
        pairs = [(a1 + n, a1 + n + 1, b1 + n, b1 + n + 1) for n in range(a2 - a1)]
        for i1, i2, j1, j2 in pairs if a2 - a1 == b2 - b1 else [(a1, a2, b1, b2)]:
            gone, come = "".join(before[i1:i2]), "".join(after[j1:j2])
            if gone != come:
                found.append(_trimmed(path, offsets[i1], gone, come))
    return _joined(found)


def _joined(found: Sequence[Replacement]) -> list[Replacement]:
    """Those that touch each other as one."""
    made: list[Replacement] = []
    for each in found:
        if made and made[-1].end == each.start:
            last = made.pop()
            each = Replacement(each.path, last.start, each.end, last.text + each.text)
        made.append(each)
    return made


def _trimmed(path: str, at: int, gone: str, come: str) -> Replacement:
    """Without what both begin and end with; an end of line of two characters is not cut in two."""
    shorter = min(len(gone), len(come))
    head = _shared(gone, come, shorter)
    tail = _shared(gone[::-1], come[::-1], shorter - head)
    if head and gone[head - 1 : head + 1] == "\r\n":
        head -= 1
    if tail and gone[len(gone) - tail - 1 : len(gone) - tail + 1] == "\r\n":
        tail -= 1
    return Replacement(path, at + head, at + len(gone) - tail, come[head : len(come) - tail])


def _shared(first: Sequence[str], second: Sequence[str], limit: int) -> int:
    return next((index for index in range(limit) if first[index] != second[index]), limit)
