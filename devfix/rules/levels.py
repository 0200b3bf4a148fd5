"""Levels of findings, by measured precision.

No program shows that a finding of library code happens: it rests on what callers are assumed to pass.  ``LIBRARIES``
says for each rule, and for each kind of evidence, how many findings in public libraries were read, and how many are
true: a caller with an accelerator fails, or trains incorrectly, by a documented call.  ``UNCALLED`` says it of code
that no program calls in a repository of programs that cannot be installed: its authors are its only callers.

In programs, most findings are true where one function shows all of it; what rests on more often overlooks something:
a path that cannot be taken, a value that is no tensor, a move on a way through many files.  ``PROGRAMS`` says how many
were read.  ``docs/development/accuracy.md`` says how all of them were measured.

A finding is an error where at least 90 % of its kind are true, latent where at least 60 % are, and otherwise doubtful:
it is reported only to explain a failure that has happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from devfix.analysis.observations import Observations
from devfix.model import Event, Finding, Severity
from devfix.rules.bases import LARGE, ORDER, Basis, bases

__all__ = ["LIBRARIES", "PROGRAMS", "UNCALLED", "Row", "level_of", "levelled"]

_ERROR, _LATENT = 0.9, 0.6  # the least precision of each level
_FEWEST = 5  # findings that must have been judged before a row counts
_MANY = 3  # calls, or files that they lead through


@dataclass(frozen=True)
class Row:
    """The judged findings of one rule with one basis, and how many of them are true."""

    code: str
    basis: Basis
    true: int
    judged: int

    @property
    def precision(self) -> float:
        """Return the share of true findings."""
        return self.true / self.judged


#: DEV100 reports what another rule does not: of the same tensors, what was measured of DEV202 holds.  Those of DEV501
#: say that a value on the CPU is used with tensors on the accelerator; others have no such use.  Those of DEV204 are
#: counted whatever they rest on.
LIBRARIES = (
    Row("DEV100", Basis.NO_MODULE, 3, 13),
    Row("DEV102", Basis.EVERY_PATH, 63, 90),
    Row("DEV102", Basis.SOME_PATH, 3, 12),
    Row("DEV202", Basis.NO_MODULE, 3, 13),
    Row("DEV204", Basis.EVERY_PATH, 1, 6),
    Row("DEV204", Basis.MADE_HERE, 1, 1),
    Row("DEV501", Basis.EVERY_PATH, 3, 19),
    Row("DEV601", Basis.ARGUMENT, 5, 29),
    Row("DEV601", Basis.EVERY_PATH, 5, 8),
)

#: Where none of these holds, one of ``LIBRARIES`` does.  Those of DEV100 and DEV101 are counted whatever they rest on.
UNCALLED = (
    Row("DEV100", Basis.EVERY_PATH, 2, 5),
    Row("DEV101", Basis.EVERY_PATH, 1, 6),
    Row("DEV102", Basis.EVERY_PATH, 11, 36),
    Row("DEV102", Basis.GUESS, 4, 9),
    Row("DEV202", Basis.EVERY_PATH, 5, 9),
    Row("DEV204", Basis.EVERY_PATH, 0, 6),
    Row("DEV601", Basis.EVERY_PATH, 0, 11),
)

#: Rules whose errors in programs are latent, or doubtful, with a weak basis; a run can confirm them.  On one of several
#: paths, DEV202 and DEV602 go with DEV101 and DEV102, whose evidence is the same: of the 42, four are true.  So does
#: DEV201 with DEV202 where the use is far away, and DEV101 with DEV102 where a method of an unknown class gets the
#: value.  Of DEV102 with a use that is far away, the latest rounds alone are counted: of the 50 before, 19 were true.
PROGRAMS = (
    Row("DEV100", Basis.FAR, 0, 46),
    Row("DEV101", Basis.FAR, 1, 6),
    Row("DEV101", Basis.MAYBE_NO_TENSOR, 0, 13),
    Row("DEV101", Basis.PASSED_ON, 1, 10),
    Row("DEV101", Basis.SOME_PATH, 3, 23),
    Row("DEV101", Basis.UNKNOWN_METHOD, 0, 2),
    Row("DEV102", Basis.FAR, 4, 5),
    Row("DEV102", Basis.MAYBE_NUMBER, 0, 4),
    Row("DEV102", Basis.SOME_PATH, 1, 14),
    Row("DEV102", Basis.UNKNOWN_METHOD, 0, 5),
    Row("DEV201", Basis.FAR, 0, 1),
    Row("DEV202", Basis.FAR, 12, 16),
    Row("DEV202", Basis.SOME_PATH, 0, 4),
    Row("DEV203", Basis.FAR, 0, 8),
    Row("DEV204", Basis.BOTH_MAY_BE_ON_CPU, 0, 6),
    Row("DEV204", Basis.FAR, 3, 39),
    Row("DEV204", Basis.UNKNOWN_CLASS, 0, 9),
    Row("DEV302", Basis.FAR, 0, 5),
    Row("DEV401", Basis.FAR, 5, 20),
    Row("DEV501", Basis.UNKNOWN_METHOD, 0, 4),
    Row("DEV501", Basis.UNSURE, 1, 8),
    Row("DEV502", Basis.FAR, 1, 3),
    Row("DEV502", Basis.SOME_PATH, 0, 14),
    Row("DEV601", Basis.ARGUMENT, 1, 17),
    Row("DEV602", Basis.SOME_PATH, 0, 1),
)

_Rows = Mapping[tuple[str, Basis], Row]


def _by_kind(rows: Sequence[Row]) -> dict[tuple[str, Basis], Row]:
    return {(row.code, row.basis): row for row in rows}


_rows = _by_kind(LIBRARIES)
_rows_of_uncalled = {**_rows, **_by_kind(UNCALLED)}
_rows_of_programs = _by_kind(PROGRAMS)


def level_of(code: str, basis: Basis, otherwise: Severity, beside_programs: bool = False) -> Severity | None:
    """Return the level of a rule's findings in libraries with a basis; ``None`` if most of them are false.

    ``otherwise`` is the level where too few were judged; such a finding is at most latent, because it rests on what
    callers are assumed to pass.  ``beside_programs``, the code is in a repository of programs, and in no package that
    can be installed.
    """
    row = _row(_rows_of_uncalled if beside_programs else _rows, code, basis)
    if row is None or row.judged < _FEWEST:
        return Severity.LATENT if otherwise is Severity.ERROR else otherwise
    if row.precision >= _ERROR:
        return Severity.ERROR
    return Severity.LATENT if row.precision >= _LATENT else None


def _row(rows: _Rows, code: str, basis: Basis) -> Row | None:
    """Return the row of a rule and a basis, or else of the stronger one that it is a part of."""
    if basis is Basis.TOLD:
        return rows.get((code, basis))
    stronger = (Basis.SOME_PATH,) if basis is Basis.BOTH_MAY_BE_ON_CPU else ()
    return next((rows[code, each] for each in (basis, *stronger, Basis.EVERY_PATH) if (code, each) in rows), None)


def levelled(
    findings: Sequence[Finding], observations: Observations, beside_programs: bool = False
) -> Iterator[tuple[Finding, bool]]:
    """Yield one rule's findings with their measured levels, and whether each is doubtful, which is latent at most.

    Advice stays what it is: code that works was not judged.  ``beside_programs``, some of the checked files start
    programs, and what these do not call is in no package that can be installed.
    """
    by_place = bases(observations) if findings else {}
    for finding in findings:
        steps = [(event.path, event.line) for event in finding.events if event.kind != "called"]
        pairs = [(cause, use) for cause in steps for use in steps]
        found = [by_place[pair] for pair in pairs if pair in by_place] or [
            by_place[step] for step in steps if step in by_place
        ]
        known = [min(found, key=ORDER)] if found else []
        level: Severity | None = finding.severity
        if level is Severity.ADVICE:
            yield finding, False
            continue
        if not observations.is_library:
            known += [Basis.FAR] if _is_far(observations, finding) else []
            is_of_use = {"created", "used"} <= {event.kind for event in finding.events}
            known += [Basis.UNSURE] if is_of_use and level is Severity.LATENT else []
            level = _level_in_program(finding.code, known, finding.severity)
        elif known:
            level = level_of(finding.code, known[0], finding.severity, beside_programs)
        yield replace(finding, severity=level or Severity.LATENT), level is None


def _is_far(observations: Observations, finding: Finding) -> bool:
    """Return whether even the nearest use is far from the cause."""
    distances = [
        max(len(path) - 1, len({event.path for event in [*causes, *path]})) for causes, path in _paths_to_uses(finding)
    ]
    return len(observations.trees) >= LARGE and min(distances, default=0) >= _MANY


def _paths_to_uses(finding: Finding) -> Iterator[tuple[list[Event], list[Event]]]:
    """Yield, for each use, the events of the cause, and the calls that lead to the use, with the use."""
    causes = [event for event in finding.events if event.kind not in ("called", "used")]
    path: list[Event] = []
    for event in finding.events:
        if event.kind in ("called", "used"):
            path.append(event)
        if event.kind == "used":
            yield causes, path
            path = []
    if path:
        yield causes, [*path, finding.events[-1]]


def _level_in_program(code: str, rests_on: Sequence[Basis], otherwise: Severity) -> Severity | None:
    """Return the level of a rule's findings in programs with these bases; ``None`` if most of them are false."""
    rows = [row for row in (_row(_rows_of_programs, code, basis) for basis in rests_on) if row is not None]
    if any(row.judged >= _FEWEST and row.precision < _LATENT for row in rows):
        return None
    is_weak = any(row.precision < _ERROR for row in rows)
    return Severity.LATENT if is_weak and otherwise is Severity.ERROR else otherwise
