"""The data model that all layers share, as frozen dataclasses.

This module imports nothing of the project.  Positions count lines from 1 and columns in code points from 0, over the
decoded text without a byte-order mark.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

__all__ = [
    "AddKeyword",
    "AppendCode",
    "Applicability",
    "CellMap",
    "CellPlace",
    "Coverage",
    "Edit",
    "Event",
    "FileChange",
    "Finding",
    "Fix",
    "InsertStatement",
    "MoveStatements",
    "Outcome",
    "Patch",
    "PortTargets",
    "Problem",
    "ReplaceExpression",
    "ReplaceStatement",
    "Resolution",
    "Severity",
    "Span",
    "Status",
    "Where",
]


class Severity(str, Enum):
    """How certain and how close the failure is, from ``ERROR`` (most severe) to ``ADVICE``."""

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
    """The status of a finding after a run."""

    FIXED = "fixed"
    FIXABLE = "fixable"  # a fix exists and was not requested (check, or unsafe without --unsafe-fixes)
    NOT_FIXED = "not-fixed"  # no fix, or the edit was dropped: ``Resolution.reason`` says why
    SUPPRESSED = "suppressed"  # by a comment in the source


class Where(str, Enum):
    """The position of an inserted statement relative to its anchor statement."""

    BEFORE = "before"
    AFTER = "after"
    BODY_START = "body-start"  # first statement in the body of a compound statement (after a docstring)


@dataclass(frozen=True, order=True)
class Span:
    """A range of source: lines from 1, columns in code points from 0, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class PortTargets:
    """What ``devfix port`` makes a program run on.

    Attributes:
        devices: the types of devices, of :data:`DEVICES`; the CPU and CUDA are always among them.
        torch: the oldest release of PyTorch that must run the program: ``(2, 4)``; ``None`` if the project decides.

    """

    DEVICES: ClassVar[tuple[str, ...]] = ("cpu", "cuda", "mps", "xpu", "npu")
    OLDEST: ClassVar[tuple[int, int]] = (2, 4)

    devices: tuple[str, ...] = ("cpu", "cuda")
    torch: tuple[int, int] | None = None

    @property
    def others(self) -> tuple[str, ...]:
        """The types of accelerators besides CUDA."""
        return tuple(each for each in self.DEVICES if each in self.devices and each not in ("cpu", "cuda"))

    @property
    def release(self) -> tuple[int, int]:
        """The oldest release of PyTorch; :data:`OLDEST` if nothing declares one."""
        return self.torch or self.OLDEST


@dataclass(frozen=True)
class CellPlace:
    """The position of a notebook's code cell.

    Attributes:
        number: the cell's number among all cells, from 1.
        line: the program line of the cell's first line.
        count: the execution count; ``None`` if the cell was not run, or the count was not saved.
        lines_in_file: the lines of the notebook's file on which the cell's lines begin; one if it is a single string.
        unclear: why the cell is not analysed; empty if it is.
        words: names in a cell that is not analysed.

    """

    number: int
    line: int
    count: int | None
    lines_in_file: tuple[int, ...]
    unclear: str = ""
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CellMap:
    """The positions of a notebook's cells; findings, events and problems count in the program's lines."""

    path: str
    cells: tuple[CellPlace, ...]

    def cell(self, line: int) -> CellPlace | None:
        """Return the cell of a line of the program; ``None`` without cells, and for line 0."""
        at = bisect_right(self.cells, line + 1, key=lambda cell: cell.line)  # the line before a cell names it
        return self.cells[at - 1] if at and line else None

    def place(self, line: int) -> tuple[int, int] | None:
        """Return the cell's number and the line in the cell, from 1."""
        cell = self.cell(line)
        return None if cell is None else (cell.number, max(line - cell.line, 0) + 1)

    def line_in_file(self, line: int) -> int:
        """Return the line of the notebook's file; 0 if there is none."""
        cell = self.cell(line)
        if cell is None:
            return 0
        return cell.lines_in_file[min(max(line - cell.line, 0), len(cell.lines_in_file) - 1)]


@dataclass(frozen=True)
class Event:
    """Something that creates, moves, replaces, loads or uses a value at a source position.

    ``kind`` is one word (``created``, ``moved``, ``replaced``, ``loaded``, ``built``, ``used`` …); ``source`` is the
    stripped source line and ``note`` a short clause for people ("moved here with .to(device)").  ``column`` and
    ``end_column`` bound the expression in the line; ``end_column`` is 0 if it ends on a later line or is not known.
    """

    kind: str
    path: str
    line: int
    column: int
    source: str
    note: str
    end_column: int = 0


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
    """Move whole statements of one block, with the comments above them, directly after ``after``.

    ``statements`` and ``after`` are spans of statements of the same block; the moved ones keep their order.
    """

    path: str
    statements: tuple[Span, ...]
    after: Span


@dataclass(frozen=True)
class AppendCode:
    """Append ``code`` (such as ``.to(device)``) to an expression, with parentheses if precedence requires them."""

    path: str
    expression: Span
    code: str


@dataclass(frozen=True)
class AddKeyword:
    """Add ``keyword=value`` to the call at ``call``: after the last argument, before any ``**mapping``."""

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

    Without code, the statement goes with its line; ``pass`` takes its place where one must be.
    The comment after it, and its neighbours between semicolons, stay.  A compound statement with a comment inside is
    not replaced.
    """

    path: str
    statement: Span
    code: tuple[str, ...]


Edit = InsertStatement | MoveStatements | AppendCode | AddKeyword | ReplaceExpression | ReplaceStatement


@dataclass(frozen=True)
class Fix:
    """What to rewrite for one finding: an imperative ``title`` ("move `labels` to `device`"), edits, applicability."""

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.SAFE

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the fix changes, sorted."""
        return tuple(sorted({edit.path for edit in self.edits}))


@dataclass(frozen=True)
class Finding:
    """One rule's claim about one event path.

    ``path`` and ``span`` are the position of the cause, where a person would edit; ``events`` lead from there to the
    failing line.  ``fixes`` are alternatives, best first; if there is none, ``reason`` says why.
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
        """Applicability of the best fix; ``None`` if there is no fix."""
        return self.fixes[0].applicability if self.fixes else None

    @property
    def failure(self) -> Event | None:
        """The event of the line that fails: the first use, as the program stops there; ``None`` without events."""
        return next((event for event in self.events if event.kind == "used"), self.events[-1] if self.events else None)


@dataclass(frozen=True)
class Resolution:
    """A finding and its status."""

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
    """A file that could not be processed: what happened, where, and what to do.  The run continues."""

    path: str
    message: str
    line: int = 0
    hint: str = ""


class Coverage(Enum):
    """What the analysis did with a function of a checked file; of several, the first in this order counts."""

    ANALYSED = "analysed"
    GIVEN_UP = "given-up"  #: it takes more steps than a function is given; what was found until then is reported
    ON_THE_CPU = "on-the-cpu"  #: a data set, worker, plot or metric, which gets what is on the CPU
    TEST = "test"  #: a test that no program runs
    TRANSPARENT = "transparent"  #: nothing in it can make a difference between devices
    NOT_CALLED = "not-called"  #: no program calls it, and nothing tells which of its arguments are tensors


@dataclass(frozen=True)
class Outcome:
    """The result of one run of the engine, sorted by path and position.

    ``notes`` are remarks that do not change the exit code, such as unused suppressions.  ``notebooks`` hold the
    cells of notebooks: report a line to a person through `place`, and to a program through `line_in_file`.
    ``coverage`` counts the functions of the files that name torch.  ``hidden`` is the number of latent findings that
    were left out because no severity was chosen.
    """

    resolutions: tuple[Resolution, ...] = ()
    patch: Patch = field(default_factory=Patch)
    problems: tuple[Problem, ...] = ()
    checked: int = 0
    notes: tuple[Problem, ...] = ()
    notebooks: tuple[CellMap, ...] = ()
    coverage: Mapping[Coverage, int] = field(default_factory=dict)
    hidden: int = 0

    def cells(self, path: str) -> CellMap | None:
        """Return the cells of a notebook; ``None`` for any other file."""
        return next((cells for cells in self.notebooks if cells.path == path), None)

    def place(self, path: str, line: int) -> tuple[int, int] | None:
        """Return cell and line in the cell; ``None`` if the file is not a notebook."""
        cells = self.cells(path)
        return None if cells is None else cells.place(line)

    def line_in_file(self, path: str, line: int) -> int:
        """Return the line of the file on disk, which other programs count in."""
        cells = self.cells(path)
        return line if cells is None else cells.line_in_file(line)

    def where(self, path: str, line: int) -> str:
        """Return ``path:line``, or ``path:cell 3:2`` in a notebook; the path alone if ``line`` is 0."""
        place = self.place(path, line)
        if place is not None:
            return f"{path}:cell {place[0]}:{place[1]}"
        return f"{path}:{line}" if line else path
