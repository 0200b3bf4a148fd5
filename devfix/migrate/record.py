"""What became of one repository, as one line of JSON: schema/record-2.json documents it.

Findings and problems are as in schema/report-2.json, with paths relative to the repository.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from devfix import __version__

__all__ = [
    "MOST_LOSSES",
    "SCHEMA_VERSION",
    "Published",
    "Record",
    "RecordError",
    "RepositoryOutcome",
    "RunSummary",
    "VerdictSummary",
    "every_nth",
]

SCHEMA_VERSION = 2

#: Losses of one run that a record holds; of longer runs it holds every n-th.
MOST_LOSSES = 1000


class RecordError(ValueError):
    """A line that is no record of this version."""


class RepositoryOutcome(str, Enum):
    """What became of a repository."""

    FIXED = "fixed"  # every finding is repaired, and proved where the plan asks for it
    CLEAN = "clean"  # nothing was found
    NOT_FIXED = "not-fixed"  # findings are left, or files that could not be read; the patch repairs the others, if any
    FAILED = "failed"  # it could not be worked on, or not to the end: ``Record.stage`` and ``reason`` say where and why


@dataclass(frozen=True)
class RunSummary:
    """One run of a script, as in schema/verdict-1.json.

    Attributes:
        outcome: how it ended, in words.
        ok: it ended by itself and without an error.
        steps: optimizer steps.
        losses: of each step, or of every ``stride``-th one; the last one is always there.
        stride: 1, or what the losses were thinned by.
        largest_difference: to the losses that count as right; None where there are none.
        wall_s: seconds.
        memory_mb: its peak memory; None where it could not be read.
        output: the end of what it printed.
        traceback: the end of the traceback of the exception that ended it; empty where none did.

    """

    outcome: str
    ok: bool
    steps: int
    losses: tuple[float, ...] = ()
    stride: int = 1
    largest_difference: float | None = None
    wall_s: float | None = None
    memory_mb: float | None = None
    output: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class VerdictSummary:
    """What runs prove of the patch.

    Attributes:
        status: one of :data:`devfix.verify.verdict.VERDICTS`.
        reason: one sentence.
        good: whether the patch may be kept.
        silent: the original raised nothing and trained something else.
        reference: the run whose losses count as right; None where it did not come to that.
        where: one line: on what device, with which torch and interpreter.
        script: the script that ran, relative to the repository (or to its sub-folder that the plan names).
        arguments: its arguments.
        notes: remarks on the runs.
        runs: by name (``original/cpu``, ``original/device``, ``patched/cpu``, ``patched/device`` and others).

    """

    status: str
    reason: str
    good: bool
    silent: bool = False
    reference: str | None = None
    where: str = ""
    script: str = ""
    arguments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    runs: Mapping[str, RunSummary] | None = None


@dataclass(frozen=True)
class Published:
    """What was made of the patch.

    Attributes:
        kind: ``patch`` (a file), ``branch`` (a commit in the mirror), ``push`` (the same, at the remote),
            ``pull-request`` (the same, and proposed).
        path: the patch file, relative to the folder that the records lie in; empty for none.
        branch: the branch's name.
        commit: the commit on it.
        mirror: the repository that holds the branch.
        url: of the pull request; empty for none.

    """

    kind: str
    path: str = ""
    branch: str = ""
    commit: str = ""
    mirror: str = ""
    url: str = ""


@dataclass(frozen=True)
class Record:
    """What became of one repository.

    Attributes:
        number: the repository's place in the plan, from 0; outputs are in this order.
        name: unique in the plan, and fit for a file's name.
        repository: URL or path, without credentials.
        ref: the branch, tag or commit that was asked for; empty for the remote's default.
        folder: the sub-folder that was worked on; empty for all of it.
        commit: the commit that was worked on; empty where it did not come to that.
        outcome: what became of it.
        stage: the last stage that was entered: ``fetch``, ``checkout``, ``scan``, ``verify``, ``publish`` or ``done``.
        findings: as in schema/report-2.json.
        problems: files that could not be handled, as in schema/report-2.json.
        notes: remarks, as in schema/report-2.json.
        checked: number of files that were read.
        patch: unified diff for ``git apply``; bytes that are no UTF-8 are lone surrogates, as Python has them.
        published: what was made of the patch; None for nothing.
        verdict: what runs prove of the patch; None where nothing was run.
        reason: why it is not fixed or failed, in one sentence; empty for clean and fixed.
        seconds: how long it took.
        timings: seconds by stage.
        log: the end of what programs said that failed.
        tool: the version that made the record.
        unchanged: the commit was worked on before with the same settings: the earlier record stands, and of this one
            only ``repository``, ``commit`` and ``number`` count.

    """

    number: int
    name: str
    repository: str
    outcome: RepositoryOutcome
    ref: str = ""
    folder: str = ""
    commit: str = ""
    stage: str = "done"
    findings: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[Mapping[str, Any], ...] = ()
    checked: int = 0
    patch: str = ""
    published: Published | None = None
    verdict: VerdictSummary | None = None
    reason: str = ""
    seconds: float = 0.0
    timings: Mapping[str, float] | None = None
    log: str = ""
    tool: str = __version__
    unchanged: bool = False

    def document(self) -> dict[str, Any]:
        """The record as dicts, lists, strings and numbers; a loss that is no finite number is a string."""
        found: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
        for field in fields(self):
            found[field.name] = getattr(self, field.name)
        found["outcome"] = self.outcome.value
        for key in ("findings", "problems", "notes"):
            found[key] = [dict(item) for item in found[key]]
        found["timings"] = dict(self.timings or {})
        found["published"] = None if self.published is None else vars(self.published)
        found["verdict"] = None if self.verdict is None else _verdict_document(self.verdict)
        return found

    def line(self) -> str:
        """The document as one line of ASCII text, without its end."""
        return json.dumps(self.document(), separators=(",", ":"))

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Record:
        """A record from its document.

        Raises:
            RecordError: the document is of another version, or a key is unknown or missing.

        """
        given = dict(document)
        version = given.pop("schema_version", None)
        if version != SCHEMA_VERSION:
            raise RecordError(f"a record of version {version}; this devfix reads version {SCHEMA_VERSION}")
        try:
            given["outcome"] = RepositoryOutcome(given["outcome"])
            for key in ("findings", "problems", "notes"):
                given[key] = tuple(given[key])
            if given["published"] is not None:
                given["published"] = Published(**given["published"])
            if given["verdict"] is not None:
                given["verdict"] = _verdict_of(given["verdict"])
            return cls(**given)
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"not a record: {error}") from error

    @classmethod
    def read(cls, line: str) -> Record:
        """A record from its line.

        Raises:
            RecordError: it is none.

        """
        try:
            document = json.loads(line)
        except ValueError as error:
            raise RecordError(f"not JSON: {error}") from error
        if not isinstance(document, dict):
            raise RecordError("not a JSON object")
        return cls.of(document)


def every_nth(losses: tuple[float, ...]) -> tuple[tuple[float, ...], int]:
    """At most :data:`MOST_LOSSES` losses (and the last one), and how many each stands for."""
    stride = max(1, math.ceil(len(losses) / MOST_LOSSES))
    kept = losses[::stride]
    return (kept if not losses or (len(losses) - 1) % stride == 0 else (*kept, losses[-1])), stride


def _verdict_document(verdict: VerdictSummary) -> dict[str, Any]:
    runs = {}
    for name, run in (verdict.runs or {}).items():
        difference = run.largest_difference
        runs[name] = {
            **vars(run),
            "losses": [_finite(loss) for loss in run.losses],
            "largest_difference": None if difference is None else _finite(difference),
        }
    return {**vars(verdict), "arguments": list(verdict.arguments), "notes": list(verdict.notes), "runs": runs}


def _verdict_of(document: Mapping[str, Any]) -> VerdictSummary:
    given = dict(document)
    runs = {}
    for name, run in given.pop("runs").items():
        difference = run["largest_difference"]
        runs[name] = RunSummary(
            **{
                **run,
                "losses": tuple(float(loss) for loss in run["losses"]),
                "largest_difference": None if difference is None else float(difference),
            }
        )
    given.update(arguments=tuple(given["arguments"]), notes=tuple(given["notes"]), runs=runs)
    return VerdictSummary(**given)


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
