"""The result of one repository, as one line of JSON; schema/record-2.json documents it.

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
    "Part",
    "Published",
    "Record",
    "RecordError",
    "RepositoryOutcome",
    "RunSummary",
    "VerdictSummary",
    "every_nth",
]

SCHEMA_VERSION = 2

#: Maximum number of losses of a run in a record; longer runs are thinned to every n-th.
MOST_LOSSES = 1000


class RecordError(ValueError):
    """The line is not a record of this version."""


class RepositoryOutcome(str, Enum):
    """The outcome of a repository."""

    FIXED = "fixed"  # every finding is fixed, and verified if the plan requires it
    CLEAN = "clean"  # no findings
    NOT_FIXED = "not-fixed"  # findings remain, or files were unreadable; the patch fixes the others
    FAILED = "failed"  # an error ended the work: see ``Record.stage`` and ``Record.reason``


@dataclass(frozen=True)
class RunSummary:
    """One run of a script, as in schema/verdict-2.json.

    Attributes:
        outcome: how the run ended, as text.
        ok: whether the script exited without an error.
        steps: the number of optimizer steps.
        losses: the loss of each step, or of every ``stride``-th step and the last one.
        stride: the interval of recorded losses; 1 for all.
        largest_difference: the largest difference to the reference losses; None if there are none.
        wall_s: the duration in seconds.
        memory_mb: the peak memory in MB; None if unknown.
        output: the end of its output.
        traceback: the end of the traceback of the exception that ended it; empty if none did.

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
    """The verdict on the patch.

    Attributes:
        status: one of :data:`devfix.verify.verdict.VERDICTS`.
        reason: one sentence.
        good: whether to keep the patch.
        silent: whether the original trains incorrectly without an error.
        reference: the run with the reference losses; None if there is none.
        where: the device, torch version and interpreter, in one line.
        script: the script, relative to the repository or to the sub-folder in the plan.
        arguments: its arguments.
        notes: remarks on the runs.
        runs: the runs by name (``original/cpu``, ``original/device``, ``patched/cpu``, ``patched/device`` and others).

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
    """How the patch was published.

    Attributes:
        kind: ``patch`` (a file), ``branch`` (also a commit in the mirror), ``push`` (also on the remote),
            ``pull-request`` (also proposed).
        path: the patch file, relative to the folder of the records; empty for none.
        branch: the name of the branch.
        commit: its commit.
        mirror: the repository that contains the branch.
        url: the URL of the pull request; empty for none.

    """

    kind: str
    path: str = ""
    branch: str = ""
    commit: str = ""
    mirror: str = ""
    url: str = ""


@dataclass(frozen=True)
class Part:
    """The part of a patch for some owners.

    Attributes:
        owners: the owners of its files, sorted, as CODEOWNERS writes them; empty if nobody owns them.
        name: the end of its branch's name; empty if the patch is not split.
        files: the changed files, relative to the repository.
        published: how the part was published; None if it was not.

    """

    owners: tuple[str, ...]
    name: str
    files: tuple[str, ...]
    published: Published | None = None


@dataclass(frozen=True)
class Record:
    """The result of one repository.

    Attributes:
        number: the repository's position in the plan, from 0; output is in this order.
        name: a unique name in the plan, usable as a file name.
        repository: URL or path, without credentials.
        ref: the requested branch, tag or commit; empty for the remote's default.
        folder: the analysed sub-folder; empty for the whole repository.
        commit: the analysed commit; empty if there was none.
        outcome: the outcome.
        stage: the last stage: ``fetch``, ``checkout``, ``scan``, ``verify``, ``publish`` or ``done``.
        findings: as in schema/report-2.json.
        problems: files that could not be processed, as in schema/report-2.json.
        notes: remarks, as in schema/report-2.json.
        checked: the number of analysed files.
        patch: the unified diff for ``git apply``; bytes that are not UTF-8 are lone surrogates (``surrogateescape``).
        published: how the patch was published; None if it was not.
        parts: the parts of the patch by owners, if the plan asks for owners and the repository names them.
        verdict: the verdict on the patch; None if nothing was run.
        reason: why the repository is not fixed or failed, in one sentence; otherwise empty.
        seconds: the duration.
        timings: the duration of each stage in seconds.
        cpu_s: the CPU time of the worker, of git and of the runs, in seconds; 0 if unknown.
        memory_mb: the peak resident memory of the worker in MB, without git and the runs; 0 if unknown.
        log: the end of the error output of failed programs.
        tool: the version of devfix.
        unchanged: whether the commit was processed before with the same settings: the earlier record remains valid, and
            only ``repository``, ``commit`` and ``number`` of this one count.
        stored: where the complete record is, if this one lacks findings, problems, notes, patch, verdict and log
            (:mod:`devfix.migrate.results`); otherwise empty.

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
    parts: tuple[Part, ...] = ()
    verdict: VerdictSummary | None = None
    reason: str = ""
    seconds: float = 0.0
    timings: Mapping[str, float] | None = None
    cpu_s: float = 0.0
    memory_mb: float = 0.0
    log: str = ""
    tool: str = __version__
    unchanged: bool = False
    stored: str = ""

    def to_document(self) -> dict[str, Any]:
        """Return the record as dicts, lists, strings and numbers; a non-finite loss becomes a string."""
        found: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
        for field in fields(self):
            found[field.name] = getattr(self, field.name)
        found["outcome"] = self.outcome.value
        for key in ("findings", "problems", "notes"):
            found[key] = [dict(item) for item in found[key]]
        found["timings"] = dict(self.timings or {})
        found["published"] = None if self.published is None else vars(self.published)
        found["parts"] = [
            {**vars(part), "published": None if part.published is None else vars(part.published)} for part in self.parts
        ]
        found["verdict"] = None if self.verdict is None else _verdict_document(self.verdict)
        return found

    def line(self) -> str:
        """Return the document as one line of ASCII text, without a line feed."""
        return json.dumps(self.to_document(), separators=(",", ":"))

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Record:
        """Return the record of a document.

        Raises:
            RecordError: the document has another version, or a key is unknown or missing.

        """
        given = dict(document)
        version = given.pop("schema_version", None)
        if version != SCHEMA_VERSION:
            raise RecordError(f"the record has version {version}; this devfix reads version {SCHEMA_VERSION}")
        try:
            given["outcome"] = RepositoryOutcome(given["outcome"])
            for key in ("findings", "problems", "notes"):
                given[key] = tuple(given[key])
            if given["published"] is not None:
                given["published"] = Published(**given["published"])
            given["parts"] = tuple(_part_of(part) for part in given["parts"])
            if given["verdict"] is not None:
                given["verdict"] = _verdict_of(given["verdict"])
            return cls(**given)
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"not a record: {error}") from error

    @classmethod
    def from_line(cls, line: str) -> Record:
        """Return the record of a line.

        Raises:
            RecordError: the line is not a record.

        """
        try:
            document = json.loads(line)
        except ValueError as error:
            raise RecordError(f"not JSON: {error}") from error
        if not isinstance(document, dict):
            raise RecordError("not a JSON object")
        return cls.from_document(document)


def every_nth(losses: tuple[float, ...]) -> tuple[tuple[float, ...], int]:
    """Return at most :data:`MOST_LOSSES` losses and the last one, and the interval between them."""
    stride = max(1, math.ceil(len(losses) / MOST_LOSSES))
    kept = losses[::stride]
    return (kept if not losses or (len(losses) - 1) % stride == 0 else (*kept, losses[-1])), stride


def _part_of(document: Mapping[str, Any]) -> Part:
    published = document["published"]
    owners, files = tuple(document["owners"]), tuple(document["files"])
    return Part(owners, document["name"], files, None if published is None else Published(**published))


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
