"""Changed lines, as git reports them: since a revision, or staged, with the texts of the index.

Whole programs are analysed.  A finding is reported if a line of its event path or the position of its best edit is
among the changed lines, or if it did not exist before: a new or removed move may break unchanged lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from devfix import sources
from devfix.model import (
    AddKeyword,
    Edit,
    Finding,
    Fix,
    InsertStatement,
    MoveStatements,
    Problem,
    ReplaceStatement,
    Span,
    Where,
)
from devfix.sources import SourceError, SourceFile
from devfix.vcs.git import Git, GitError, unquoted

__all__ = ["ChangesError", "Scope", "since", "staged"]

_HEAD = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_DIFF = (
    *("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "--find-renames"),
    *("--no-relative", "--ignore-submodules=all", "--src-prefix=a/", "--dst-prefix=b/"),
)
_WITHOUT_CONTEXT = ("--unified=0", "--inter-hunk-context=0")
_ALL = ((0, 1 << 60),)  # every line of a file

#: First and last line of each stretch, both within.
Stretches = tuple[tuple[int, int], ...]


class ChangesError(Exception):
    """Git cannot report the changes: the message says why, in one line."""


@dataclass(frozen=True)
class Scope:
    """The part of the code that a run reports on.

    Attributes:
        lines: changed lines by the real path of each changed file, counted in its new text; empty if lines were only
            removed, or the file was only renamed.
        before: previous texts of these files, by real path; ``None`` for a new file, and for one that Python cannot
            read.
        texts: files of the index that differ from the working tree, by real path; ``None`` for deleted ones.
        problems: files of the index that cannot be read.
    """

    lines: Mapping[str, Stretches]
    before: Mapping[str, SourceFile | None] = field(default_factory=dict)
    texts: Mapping[str, SourceFile | None] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def touches(self, finding: Finding) -> bool:
        """Return whether a finding is affected by a changed line."""
        return any(self._changed(path, first, last) for path, first, last in _places(finding))

    def why_not_edited(self, fix: Fix) -> str:
        """Return why a fix is not applied: one of its files differs between index and working tree."""
        apart = [path for path in fix.paths if self.texts.get(_real(path)) is not None]
        if not apart:
            return ""
        return f"the index and the working tree hold {apart[0]} differently: stage its changes, or stash them"

    def concerns(self, problem: Problem) -> bool:
        """Return whether a problem is in a changed file, or in a path that does not exist."""
        return _real(problem.path) in self.lines or not os.path.exists(problem.path)

    def _changed(self, path: str, first: int, last: int) -> bool:
        return any(begin <= last and first <= end for begin, end in self.lines.get(_real(path), ()))


def _real(path: str) -> str:
    return os.path.realpath(path)


def _places(finding: Finding) -> Iterator[tuple[str, int, int]]:
    """Yield the lines of a finding's event path, and the position of its best edit."""
    yield finding.path, finding.span.line, finding.span.end_line
    for event in finding.events:
        yield event.path, event.line, event.line
    for edit in finding.fixes[0].edits if finding.fixes else ():
        for span in _spans(edit):
            yield edit.path, span.line, span.end_line


def _spans(edit: Edit) -> tuple[Span, ...]:
    if isinstance(edit, InsertStatement):
        line = edit.anchor.end_line if edit.where is Where.AFTER else edit.anchor.line
        return (Span(line, 0, line, 0),)
    if isinstance(edit, MoveStatements):
        return (*edit.statements, Span(edit.after.end_line, 0, edit.after.end_line, 0))
    if isinstance(edit, AddKeyword):
        return (edit.call,)
    return (edit.statement if isinstance(edit, ReplaceStatement) else edit.expression,)


# --- git ------------------------------------------------------------------------------------------------------------
def since(paths: Sequence[str], revision: str) -> Scope:
    """Return the lines that differ from the merge base of ``revision`` and HEAD; untracked files count as new.

    Raises:
        ChangesError: there is no repository, there are several, or the revision does not exist.
    """
    git = _repository(paths, "--since")
    try:
        lines, before = _changed(git, _parting(git, _commit(git, revision)), _of_interest(git, paths))
        for path in _split(git("ls-files", "--others", "--exclude-standard", "-z")):
            lines[_in(git, path)], before[_in(git, path)] = _ALL, None
        tracked = {_in(git, path) for path in _split(git("ls-files", "--cached", "-z"))}
    except GitError as error:
        raise ChangesError(f"--since: {error}") from error
    lines.update((_real(path), _ALL) for path in paths if os.path.isfile(path) and _real(path) not in tracked)
    return Scope(lines, before)


def staged(paths: Sequence[str]) -> Scope:
    """Return the lines of the index that differ from HEAD, and the texts of the index.

    Raises:
        ChangesError: there is no repository, or there are several.
    """
    git = _repository(paths, "--staged")
    index, wanted = _index(git), _of_interest(git, paths)
    texts: dict[str, SourceFile | None] = {}
    problems = []
    try:
        lines, before = _changed(git, "--cached", wanted, index)
        for path in _split(git(*_DIFF, "--name-only", "--no-renames", "-z", "--", *wanted, extra_env=index)):
            full = os.path.join(git.folder, path)
            try:
                texts[full] = _staged_text(git, path, index)
            except SourceError as error:
                texts[full] = None
                problems.append(error.problem)
        untracked = _split(git("ls-files", "--others", "--exclude-standard", "-z", extra_env=index))
    except GitError as error:
        raise ChangesError(f"--staged: {error}") from error
    texts.update(dict.fromkeys(os.path.join(git.folder, path) for path in untracked))
    return Scope(lines, before, texts, tuple(problems))


def _staged_text(git: Git, path: str, index: Mapping[str, str]) -> SourceFile:
    shown = _shown(os.path.join(git.folder, path))
    try:
        raw = os.fsencode(git("cat-file", "blob", f":{path}", extra_env=index))
    except GitError:
        hint = "resolve them, and stage the file"
        raise SourceError(Problem(shown, "has conflicts that are not resolved", hint=hint)) from None
    return sources.decode(shown, raw)


def _shown(path: str) -> str:
    """Return a path for people: relative to the current folder if it is inside."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _repository(paths: Sequence[str], flag: str) -> Git:
    roots = {path: sources.git_root(os.path.realpath(path)) for path in paths or (os.curdir,)}
    for path, root in roots.items():
        if root is None:
            raise ChangesError(f"{flag} asks git, and {path} is in no git repository")
    found = sorted({root for root in roots.values() if root is not None})
    if len(found) > 1:
        raise ChangesError(f"{flag}: the paths lie in several repositories ({', '.join(found)}): name those of one")
    git = Git(found[0], user_checkout=True)
    try:
        git("rev-parse", "--git-dir")
    except GitError as error:
        raise ChangesError(f"{flag}: {error}") from error
    return git


def _of_interest(git: Git, paths: Sequence[str]) -> list[str]:
    """Return pathspecs for Python files and for files given by name."""
    named = (os.path.relpath(_real(path), git.folder).replace(os.sep, "/") for path in paths if os.path.isfile(path))
    return [*(f"*{suffix}" for suffix in sources.SUFFIXES), *(f":(literal){path}" for path in named)]


def _index(git: Git) -> dict[str, str]:
    """Return the index that git uses: `git commit -a` gives its hooks a temporary one."""
    given = os.environ.get("GIT_INDEX_FILE")
    here = sources.git_root(os.path.realpath(os.curdir))
    return {"GIT_INDEX_FILE": os.path.abspath(given)} if given and here == git.folder else {}


def _commit(git: Git, revision: str) -> str:
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    except GitError:
        pass
    try:
        git("rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:
        raise ChangesError(f"--since: the repository in {git.folder} has no commit yet") from None
    shallow = git("rev-parse", "--is-shallow-repository").strip() == "true"
    hint = "; the clone is shallow: git fetch --unshallow gets the rest" if shallow else ""
    raise ChangesError(f"--since: {revision!r} is no commit, branch or tag of {git.folder}{hint}")


def _parting(git: Git, commit: str) -> str:
    """Return the merge base of two commits; the given one if git knows none (unrelated or shallow histories)."""
    try:
        return git("merge-base", commit, "HEAD").strip()
    except GitError:
        return commit


def _changed(
    git: Git, against: str, wanted: Sequence[str], index: Mapping[str, str] | None = None
) -> tuple[dict[str, Stretches], dict[str, SourceFile | None]]:
    """Return the changed lines of each changed file and its previous text, by real path.

    ``against`` is a commit, or ``--cached`` for staged changes.
    """
    stretches = _stretches(git(*_DIFF, *_WITHOUT_CONTEXT, against, "--", *wanted, extra_env=index))
    blobs = {}  # path → the blob before
    listed = iter(_split(git(*_DIFF, "--raw", "-z", "--no-abbrev", against, "--", *wanted, extra_env=index)))
    for about in listed:
        _, _, blob, _, status = about.split(" ")
        path = next(listed)
        if status[0] in "RC":
            path = next(listed)
        if status[0] != "D":
            blobs[path] = blob
    texts = _blobs(git, sorted(set(blobs.values())))
    lines, before = {}, {}
    for path, blob in blobs.items():
        full = _in(git, path)
        inside = sources.is_within(full, os.path.realpath(git.folder))  # a link may lead anywhere
        lines[full] = _in_lines(full, stretches.get(path, ())) if inside else _ALL
        before[full] = _decoded(full, texts.get(blob))
    return lines, before


def _stretches(diff: str) -> dict[str, list[tuple[int, int]]]:
    """Yield the ranges of added lines in a diff without context, by path."""
    found: dict[str, list[tuple[int, int]]] = {}
    path, skipped = "", 0
    for line in diff.split("\n"):
        head = _HEAD.match(line)
        if skipped:  # a line of a hunk, which may look like anything
            skipped -= not line.startswith("\\")
        elif line.startswith("+++ "):
            path = unquoted(line[4:].removesuffix("\t")).removeprefix("b/")
        elif head is not None:
            removed, added = (1 if length is None else int(length) for length in head.group(1, 3))
            skipped = removed + added
            if added:
                found.setdefault(path, []).append((int(head[2]), int(head[2]) + added - 1))
    return found


def _blobs(git: Git, names: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of blobs by name, without the missing ones."""
    found: dict[str, bytes] = {}
    if not names:
        return found
    rest = os.fsencode(git("cat-file", "--batch", stdin="".join(f"{name}\n" for name in names)))
    while rest:
        head, _, rest = rest.partition(b"\n")
        name, kind, *size = head.decode().split(" ")
        if size:
            content, rest = rest[: int(size[0])], rest[int(size[0]) + 1 :]
            if kind == "blob":
                found[name] = content
    return found


def _decoded(path: str, raw: bytes | None) -> SourceFile | None:
    try:
        return None if raw is None else sources.decode(path, raw)
    except SourceError:
        return None


def _in_lines(path: str, stretches: Sequence[tuple[int, int]]) -> Stretches:
    """Return the same lines in Python's counting; all lines if Python counts more than git."""
    if stretches and path.endswith(sources.NOTEBOOK):
        return _in_program(path, stretches)
    more = False
    with suppress(OSError):
        if os.path.isfile(path):  # a symbolic link may lead to a device without an end
            with open(path, "rb") as file:
                more = b"\r" in file.read().replace(b"\r\n", b"")
    return _ALL if stretches and more else tuple(stretches)


def _in_program(path: str, stretches: Sequence[tuple[int, int]]) -> Stretches:
    """Return lines of a notebook's file as lines of its program; all lines if the notebook cannot be read."""
    try:
        file = sources.read(path)
    except SourceError:
        return _ALL
    lines = range(1, file.text.count("\n") + 1) if file.cells is not None else ()
    at = {line: file.cells.line_in_file(line) for line in lines} if file.cells is not None else {}
    changed = (line for line, there in at.items() if any(begin <= there <= end for begin, end in stretches))
    return tuple((line, line) for line in changed)


def _in(git: Git, path: str) -> str:
    return os.path.realpath(os.path.join(git.folder, path))


def _split(listed: str) -> list[str]:
    return [name for name in listed.split("\0") if name]
