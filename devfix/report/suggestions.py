"""Fixes of findings as text replacements.

Replacements come from the engine's patch, not from a fix's edits.  Findings whose fixes change the same files get
separate replacements only if applying all of them gives exactly the patch.  Otherwise, the first finding gets the whole
patch, and the others refer to it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from devfix import sources
from devfix.engine.scan import Identity, identity
from devfix.model import Applicability, FileChange, Finding, Outcome, Resolution, Status
from devfix.report.positions import Lines, SourceTexts

__all__ = ["Replacement", "Suggestion", "Suggestions", "apply_replacements", "find_replacements", "suggestions_of"]


#: Maximum number of findings of the same files that get separate replacements; each costs one rewrite of the file.
_MAX_GROUP = 50


@dataclass(frozen=True)
class Replacement:
    """Replacement of the range from ``start`` to ``end``, offsets in code points of the decoded text, by ``text``."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Suggestion:
    """The fix of a finding: title, applicability, and replacements."""

    title: str
    applicability: Applicability
    replacements: tuple[Replacement, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The changed files, sorted."""
        return tuple(sorted({each.path for each in self.replacements}))


@dataclass(frozen=True)
class Suggestions:
    """Suggestions by finding.

    Attributes:
        by_finding: the suggestion of each finding that has one.
        fixed_with: for a finding without a suggestion, the finding whose suggestion fixes it.

    """

    by_finding: Mapping[Identity, Suggestion] = field(default_factory=dict)
    fixed_with: Mapping[Identity, Finding] = field(default_factory=dict)

    def of(self, finding: Finding) -> Suggestion | None:
        """Return the suggestion of a finding, or None."""
        return self.by_finding.get(identity(finding))


def suggestions_of(outcome: Outcome, texts: SourceTexts) -> Suggestions:
    """Return suggestions for the findings that the patch of an outcome fixes."""
    fixed = [item for item in outcome.resolutions if item.status is Status.FIXED]
    changes = {change.path: change for change in outcome.patch.files}
    by_finding: dict[Identity, Suggestion] = {}
    fixed_with: dict[Identity, Finding] = {}
    for items, paths in _group_by_files(fixed, changes):
        parts = _separate(items, [changes[path] for path in paths], texts)
        if parts is None:
            first, *others = items
            whole = [each for path in paths for each in _replacements_of(changes[path])]
            if whole:
                by_finding[identity(first.finding)] = _fix(first, whole, len(others))
                fixed_with.update({identity(other.finding): first.finding for other in others})
            continue
        for item, replaced in zip(items, parts, strict=True):
            if replaced:
                by_finding[identity(item.finding)] = _fix(item, replaced)
    return Suggestions(by_finding, fixed_with)


def _fix(item: Resolution, replaced: Sequence[Replacement], others: int = 0) -> Suggestion:
    fix = item.fix or item.finding.fixes[0]
    also = f"; also fixes {others} more {'finding' if others == 1 else 'findings'}" if others else ""
    return Suggestion(fix.title + also, fix.applicability, tuple(replaced))


def _group_by_files(
    fixed: Sequence[Resolution], changes: Mapping[str, FileChange]
) -> Iterator[tuple[list[Resolution], list[str]]]:
    """Yield groups of findings whose fixes share files, directly or transitively, with these files."""
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


def _separate(
    items: Sequence[Resolution], changes: Sequence[FileChange], texts: SourceTexts
) -> list[list[Replacement]] | None:
    """Return the replacements of each finding; None if together they do not give the patch."""
    if len(items) == 1:
        return [[each for change in changes for each in _replacements_of(change)]]
    if len(items) > _MAX_GROUP:
        return None
    from devfix.rewrite import RewriteError, Rewriter

    parts: list[list[Replacement]] = [[] for _ in items]
    for change in changes:
        file = texts.file(change.path)
        if file is None or change.path.endswith(sources.NOTEBOOK):
            return None
        rewriter = Rewriter(file.text)
        for item, part in zip(items, parts, strict=True):
            applied = item.fix
            fix = next((each for each in item.finding.fixes if applied and each.title == applied.title), None)
            edits = [edit for edit in fix.edits if edit.path == change.path] if fix is not None else []
            try:
                part.extend(find_replacements(change.path, file.text, rewriter.rewrite(edits)) if edits else ())
            except RewriteError:
                return None
        in_file = [each for part in parts for each in part if each.path == change.path]
        new = apply_replacements(file.text, in_file)
        if new is None or sources.encode(file, new) != change.new:
            return None
    return parts


def _replacements_of(change: FileChange) -> list[Replacement]:
    if change.path.endswith(sources.NOTEBOOK):  # positions in the JSON file
        return find_replacements(change.path, sources.as_text(change.old), sources.as_text(change.new))
    old, new = sources.decode(change.path, change.old), sources.decode(change.path, change.new)
    return find_replacements(change.path, old.text, new.text)


def apply_replacements(text: str, replaced: Sequence[Replacement]) -> str | None:
    """Return a text after replacements; None if two of them overlap or start at the same offset."""
    pieces, at, last = [], 0, -1
    for each in sorted(replaced, key=lambda item: (item.start, item.end)):
        if each.start < at or each.start == last:
            return None
        pieces += [text[at : each.start], each.text]
        at, last = each.end, each.start
    return "".join([*pieces, text[at:]])


def find_replacements(path: str, old: str, new: str) -> list[Replacement]:
    """Return minimal replacements that turn one text of a file into another."""
    lines, others = Lines(old).with_line_ends(), Lines(new).with_line_ends()
    head = _common_prefix(lines, others, min(len(lines), len(others)))
    tail = _common_prefix(lines[::-1], others[::-1], min(len(lines), len(others)) - head)
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
            removed, added = "".join(before[i1:i2]), "".join(after[j1:j2])
            if removed != added:
                found.append(_trim(path, offsets[i1], removed, added))
    return _join_adjacent(found)


def _join_adjacent(found: Sequence[Replacement]) -> list[Replacement]:
    joined: list[Replacement] = []
    for each in found:
        if joined and joined[-1].end == each.start:
            last = joined.pop()
            each = Replacement(each.path, last.start, each.end, last.text + each.text)
        joined.append(each)
    return joined


def _trim(path: str, start: int, removed: str, added: str) -> Replacement:
    """Return a replacement without the common prefix and suffix; ``\\r\\n`` is never split."""
    shorter = min(len(removed), len(added))
    head = _common_prefix(removed, added, shorter)
    tail = _common_prefix(removed[::-1], added[::-1], shorter - head)
    if head and removed[head - 1 : head + 1] == "\r\n":
        head -= 1
    if tail and removed[len(removed) - tail - 1 : len(removed) - tail + 1] == "\r\n":
        tail -= 1
    return Replacement(path, start + head, start + len(removed) - tail, added[head : len(added) - tail])


def _common_prefix(first: Sequence[str], second: Sequence[str], limit: int) -> int:
    return next((index for index in range(limit) if first[index] != second[index]), limit)
