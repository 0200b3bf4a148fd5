"""The words that every layer shares, as frozen dataclasses.

This module imports nothing of the project.  The words are those of the design: *place*, *event*, *finding*,
*fix*, *patch*, *resolution*.  Positions count lines from 1 and columns in code points from 0, over the text
after decoding (a byte-order mark is not part of it).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from enum import Enum

__all__ = [
    "AddKeyword",
    "AppendCode",
    "CellMap",
    "CellPlace",
    "Edit",
    "Event",
    "FileChange",
    "Finding",
    "InsertStatement",
    "MoveStatements",
    "Outcome",
    "Patch",
    "Problem",
    "Fix",
    "ReplaceExpression",
    "ReplaceStatement",
    "Resolution",
    "Applicability",
    "Severity",
    "Span",
    "Status",
    "Where",
]


class Severity(str, Enum):
    """How sure and how near the failure is; ordered from ``ERROR`` (most severe) to ``ADVICE``."""

    ERROR = "error"
    LATENT = "latent"
    ADVICE = "advice"

    @property
    def rank(self) -> int:
        """0 for ``error``, 1 for ``latent``, 2 for ``advice``."""
        return list(Severity).index(self)


class Applicability(str, Enum):
    """``SAFE`` fixes are applied by default, ``UNSAFE`` ones only with ``--unsafe-fixes``."""

    SAFE = "safe"
    UNSAFE = "unsafe"


class Status(str, Enum):
    """What became of a finding."""

    FIXED = "fixed"
    FIXABLE = "fixable"  # a fix exists and was not asked for (check, or unsafe without --unsafe-fixes)
    NOT_FIXED = "not-fixed"  # no fix, or the edit was dropped: ``Resolution.reason`` says why
    SUPPRESSED = "suppressed"  # by a comment in the source


class Where(str, Enum):
    """Where an inserted statement goes, seen from its anchor statement."""

    BEFORE = "before"
    AFTER = "after"
    BODY_START = "body-start"  # first statement in the body of a compound statement (after a docstring)


@dataclass(frozen=True, order=True)
class Span:
    """A piece of source: lines from 1, columns in code points from 0, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class CellPlace:
    """Where a notebook's cell of code stands.

    Attributes:
        number: of the cell among all cells, from 1.
        line: the line of the program that is the cell's first one.
        count: the execution count; ``None`` where the cell was not run, or nobody kept it.
        lines_in_file: the lines of the notebook's file on which its lines begin; one where it is a single string.
        unclear: why the cell is not followed; empty if it is.
        words: names in a cell that is not followed.

    """

    number: int
    line: int
    count: int | None
    lines_in_file: tuple[int, ...]
    unclear: str = ""
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CellMap:
    """Where the lines of a notebook's program stand; findings, events and problems count in the program's lines."""

    path: str
    cells: tuple[CellPlace, ...]

    def cell(self, line: int) -> CellPlace | None:
        """The cell that a line of the program belongs to; ``None`` without cells, and for line 0."""
        at = bisect_right(self.cells, line + 1, key=lambda cell: cell.line)  # the line ahead of a cell names it
        return self.cells[at - 1] if at and line else None

    def place(self, line: int) -> tuple[int, int] | None:
        """The cell's number and the line in the cell, from 1."""
        cell = self.cell(line)
        return None if cell is None else (cell.number, max(line - cell.line, 0) + 1)

    def line_in_file(self, line: int) -> int:
        """The line of the notebook's file; 0 where there is none."""
        cell = self.cell(line)
        if cell is None:
            return 0
        return cell.lines_in_file[min(max(line - cell.line, 0), len(cell.lines_in_file) - 1)]


@dataclass(frozen=True)
class Event:
    """Something that creates, moves, replaces, loads or uses a value at a source position.

    ``kind`` is one word (``created``, ``moved``, ``replaced``, ``loaded``, ``built``, ``used`` …); ``source`` is the
    stripped source line and ``note`` a short clause for people ("moved here with .to(device)").
    """

    kind: str
    path: str
    line: int
    column: int
    source: str
    note: str


@dataclass(frozen=True)
class InsertStatement:
    """Insert the statement ``code`` beside ``anchor``.

    ``code`` has no leading indentation; nested blocks inside it are indented by four spaces and take over the
    file's own indentation when they are written.
    """

    path: str
    anchor: Span
    where: Where
    code: str


@dataclass(frozen=True)
class MoveStatements:
    """Move whole statements of one block, with the comments above them, to directly after ``after``.

    ``statements`` and ``after`` are spans of statements of the same block; the moved ones keep their order.
    """

    path: str
    statements: tuple[Span, ...]
    after: Span


@dataclass(frozen=True)
class AppendCode:
    """Append ``code`` (such as ``.to(device)``) to an expression, with parentheses where precedence asks for them."""

    path: str
    expression: Span
    code: str


@dataclass(frozen=True)
class AddKeyword:
    """Add ``keyword=value`` to the call at ``call``: after the last argument, ahead of any ``**mapping``."""

    path: str
    call: Span
    keyword: str
    value: str


@dataclass(frozen=True)
class ReplaceExpression:
    """Replace the expression at ``expression`` by ``code``."""

    path: str
    expression: Span
    code: str


@dataclass(frozen=True)
class ReplaceStatement:
    """Replace the statement at ``statement`` by the simple statements of ``code``, each written as it is.

    What stands around it stays: the comment behind it, and its neighbours between semicolons.  A compound statement
    with a comment inside is not replaced.
    """

    path: str
    statement: Span
    code: tuple[str, ...]


Edit = InsertStatement | MoveStatements | AppendCode | AddKeyword | ReplaceExpression | ReplaceStatement


@dataclass(frozen=True)
class Fix:
    """What to rewrite for one finding: an imperative ``title`` ("move `labels` to `device`"), edits, safety."""

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the fix changes, sorted."""
        return tuple(sorted({edit.path for edit in self.edits}))


@dataclass(frozen=True)
class Finding:
    """One rule's claim about one path of events.

    ``path`` and ``span`` say where the cause is (where a person would edit); ``events`` tell the story in order and
    end with the line that fails.  ``fixes`` are alternatives, best first; when there is none, ``reason`` says why.
    """

    code: str
    name: str
    severity: Severity
    path: str
    span: Span
    message: str
    events: tuple[Event, ...] = ()
    fixes: tuple[Fix, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def applicability(self) -> Applicability | None:
        """Safety of the best fix, ``None`` where there is no fix."""
        return self.fixes[0].applicability if self.fixes else None


@dataclass(frozen=True)
class Resolution:
    """A finding and what became of it."""

    finding: Finding
    status: Status
    reason: str = ""
    fix: Fix | None = None


@dataclass(frozen=True)
class FileChange:
    """Old and new bytes of one file."""

    path: str
    old: bytes
    new: bytes


@dataclass(frozen=True)
class Patch:
    """Old and new bytes of the files that one run changes, sorted by path."""

    files: tuple[FileChange, ...] = ()


@dataclass(frozen=True)
class Problem:
    """A file that could not be handled: what happened, where, and what to do.  The rest of the run goes on."""

    path: str
    message: str
    line: int = 0
    hint: str = ""


@dataclass(frozen=True)
class Outcome:
    """Everything that one run of the engine has to say, sorted by path and position.

    ``notes`` are remarks that do not change the exit code, such as unused suppressions.  ``notebooks`` say where the
    lines of notebooks stand: `place` and `line_in_file` are the way to tell a person, or a program, of a line.
    """

    resolutions: tuple[Resolution, ...] = ()
    patch: Patch = field(default_factory=Patch)
    problems: tuple[Problem, ...] = ()
    checked: int = 0
    notes: tuple[Problem, ...] = ()
    notebooks: tuple[CellMap, ...] = ()

    def cells(self, path: str) -> CellMap | None:
        """Where the lines of a notebook stand; ``None`` for any other file."""
        return next((cells for cells in self.notebooks if cells.path == path), None)

    def place(self, path: str, line: int) -> tuple[int, int] | None:
        """Cell and line in the cell; ``None`` for a file that is no notebook."""
        cells = self.cells(path)
        return None if cells is None else cells.place(line)

    def line_in_file(self, path: str, line: int) -> int:
        """The line of the file as it lies on the disk, which is what other programs count in."""
        cells = self.cells(path)
        return line if cells is None else cells.line_in_file(line)

    def where(self, path: str, line: int) -> str:
        """``path:line``, or ``path:cell 3:2`` in a notebook; the path alone where ``line`` is 0."""
        place = self.place(path, line)
        if place is not None:
            return f"{path}:cell {place[0]}:{place[1]}"
        return f"{path}:{line}" if line else path
