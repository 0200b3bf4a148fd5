"""Patches of the bot: made and applied by git, and their hunks.

A review reads files of strangers beside a token.  Git compares them in nearly linear time (``--histogram``), hunks are
read from the patch instead of compared again, and sizes are limited.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devfix.bot.skip_reasons import BotError
from devfix.model import FileChange
from devfix.vcs import hunks as diffs
from devfix.vcs.git import Git, GitError

__all__ = ["MAX_FILE_BYTES", "MAX_HUNKS", "MAX_TOTAL_BYTES", "Hunk", "apply", "decode_lines", "diff", "hunks"]

#: The largest file that the bot changes, and the largest sum of the files of one review.
MAX_FILE_BYTES, MAX_TOTAL_BYTES = 2 << 20, 16 << 20
#: Hunks of a patch that a review can show.
MAX_HUNKS = 500
_TIMEOUT_S = 60.0
#: No filter of the user's configuration changes the bytes.
_NO_FILTERS = ("-c", f"core.attributesFile={os.devnull}", "-c", "core.safecrlf=false", "-c", "core.quotePath=false")
_DIFF = ("diff", "--histogram", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--text")
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")


@dataclass(frozen=True)
class Hunk:
    """A replacement of lines: ``old[a1:a2]`` by ``lines``, which are ``new[b1:b2]``."""

    path: str
    a1: int
    a2: int
    b1: int
    b2: int
    lines: tuple[str, ...]

    @property
    def position(self) -> tuple[str, int]:
        """File and first line, counted from 1: unique within a patch."""
        return self.path, self.a1 + 1

    @property
    def edit(self) -> tuple[str, int, int, tuple[str, ...]]:
        """The replacement without its position in the new file."""
        return self.path, self.a1, self.a2, self.lines

    def touches(self, other: Hunk) -> bool:
        """Whether both change the same or adjacent lines."""
        return self.path == other.path and self.a1 <= other.a2 and other.a1 <= self.a2


def decode_lines(before: bytes, after: bytes) -> tuple[list[str], list[str], bool]:
    """Return the lines of two texts, and whether both are UTF-8; otherwise each byte becomes one character."""
    try:
        texts, is_utf8 = (before.decode("utf-8"), after.decode("utf-8")), True
    except UnicodeDecodeError:
        texts, is_utf8 = (before.decode("latin-1"), after.decode("latin-1")), False
    old, new = (text.removesuffix("\n").split("\n") for text in texts)
    return old, new, is_utf8


def diff(changes: Sequence[FileChange]) -> bytes:
    """Return the changes as a patch for ``git apply``.

    Args:
        changes: existing files within the repository, by relative path.

    Raises:
        BotError: git failed, or needed more than a minute.

    """
    if not changes:
        return b""
    by_path = {change.path.replace(os.sep, "/"): change for change in changes}
    with _one_line_errors("the patch cannot be made"), _work_tree({p: c.old for p, c in by_path.items()}) as git:
        git(*_NO_FILTERS, "add", "--force", "--all")
        _write(git.folder, {path: change.new for path, change in by_path.items()})
        return os.fsencode(git(*_NO_FILTERS, *_DIFF, *_PREFIXES))


def apply(patch: bytes, before: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files after a patch.

    Args:
        patch: changes of lines in these files.
        before: the contents by path.

    Raises:
        BotError: the patch does not apply exactly where it says, or creates or deletes files.

    """
    _check_positions(patch, before)
    with _one_line_errors("the patch does not apply"), _work_tree(before) as git:
        git("apply", "--whitespace=nowarn", "-", stdin=os.fsdecode(patch))
        if _listed_files(git.folder) != set(before):
            raise BotError("the patch creates or deletes files")
        return {name: Path(git.folder, name).read_bytes() for name in before}


def hunks(patch: bytes, after: Mapping[str, bytes]) -> list[Hunk]:
    """Return the hunks of a patch, in its order.

    Args:
        patch: changes of lines.
        after: the patched files by path.

    Raises:
        BotError: there are more than :data:`MAX_HUNKS`.

    """
    found: list[Hunk] = []
    for file in _read(patch):
        new = decode_lines(b"", after[file.path])[1]
        for hunk in file.hunks:
            for a1, a2, b1, b2 in _changed_ranges(hunk):
                found.append(Hunk(file.path, a1, a2, b1, b2, tuple(new[b1:b2])))
                if len(found) > MAX_HUNKS:
                    raise BotError(
                        f"the patch has more than {MAX_HUNKS} hunks, which is more than a review can show:"
                        " run devfix apply"
                    )
    return found


def _read(patch: bytes) -> list[diffs.DiffFile]:
    return diffs.read(patch.decode("utf-8", "surrogateescape"))


def _changed_ranges(hunk: diffs.Hunk) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges of replaced and new lines, counted from 0."""
    at, new = _start(hunk, "-"), _start(hunk, "+")
    first = None
    for line in hunk.lines:
        if line.mark in "+-":
            first = first or (at, new)
            at, new = at + (line.mark == "-"), new + (line.mark == "+")
        elif line.mark == " ":
            if first is not None:
                yield first[0], at, first[1], new
            first = None
            at, new = at + 1, new + 1
    if first is not None:
        yield first[0], at, first[1], new


def _start(hunk: diffs.Hunk, mark: str) -> int:
    """Return the first line of a side, counted from 0; a side without lines names the line before it."""
    number = hunk.old if mark == "-" else hunk.new
    return number - 1 if any(line.mark in (" ", mark) for line in hunk.lines) else number


def _check_positions(patch: bytes, before: Mapping[str, bytes]) -> None:
    """Raise ``BotError`` unless each hunk has the file's lines where it says; git would search for them elsewhere."""
    for file in _read(patch):
        lines = before.get(file.path, b"").split(b"\n")
        for hunk in file.hunks:
            replaced = [_encoded(line.code) for line in hunk.lines if line.mark in " -"]
            first = _start(hunk, "-")
            present = [line.removesuffix(b"\r") for line in lines[first : first + len(replaced)]]
            if first < 0 or present != replaced:
                raise BotError(f"the patch does not apply: {file.path} has other lines at line {hunk.old}")


def _encoded(code: str) -> bytes:
    return code.encode("utf-8", "surrogateescape")


# --- work trees -----------------------------------------------------------------------------------------------------
@contextmanager
def _work_tree(files: Mapping[str, bytes]) -> Iterator[Git]:
    """Yield git in a temporary repository with these files, which are not committed."""
    with tempfile.TemporaryDirectory(prefix="devfix-bot-") as folder:
        _write(folder, files)
        git = Git(folder, timeout=_TIMEOUT_S)
        git("init", "--quiet")  # otherwise git searches the parent folders
        yield git


def _write(folder: str, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@contextmanager
def _one_line_errors(what: str) -> Iterator[None]:
    try:
        yield
    except GitError as error:
        raise BotError(f"{what}: {error}") from error


def _listed_files(folder: str) -> set[str]:
    """Return the files below a folder, except git's, as POSIX paths.

    Symbolic links get a leading slash, which no expected path has.
    """
    paths = [path for path in Path(folder).rglob("*") if path.relative_to(folder).parts[0] != ".git"]
    plain = {path.relative_to(folder).as_posix() for path in paths if path.is_file() and not path.is_symlink()}
    return plain | {f"/{path}" for path in paths if path.is_symlink()}
