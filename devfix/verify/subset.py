"""The largest verifiable subset of a patch: drop edits and run the script again until the verdict is good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from devfix.model import Finding, Outcome, Patch, Resolution, Status
from devfix.verify.experiment import Experiment
from devfix.verify.matrix import Machine, Matrix, run_matrix
from devfix.verify.patches import Changes, changes_of, program_files
from devfix.verify.verdict import Verdict

__all__ = ["MAX_ATTEMPTS", "Proved", "prove_on_machines", "prove_subset"]

MAX_ATTEMPTS = 16

#: Verdicts that may change with another patch; the others depend on the script only.
_DEPENDS_ON_PATCH = ("not-fixed", "loss-differs", "output-differs", "moved-to-cpu", "broken")

ApplyWithout = Callable[[Sequence[Finding]], Outcome]


@dataclass(frozen=True)
class Proved:
    """The verified part of a patch, with its verdict.

    Attributes:
        outcome: its patch contains the verified edits, possibly none; findings have the reason why an edit was dropped.
        verdict: on the remaining patch, or on the complete one if nothing remains; None if there were no edits.
        changes: the patch that ``verdict`` refers to: new contents of files, by their path within the project.

    """

    outcome: Outcome
    verdict: Verdict | None
    changes: Changes


def prove_subset(experiment: Experiment, outcome: Outcome, apply_without: ApplyWithout) -> Proved:
    """Verify a patch, or else the largest part of it that passes.

    Args:
        experiment: the script to run.
        outcome: the engine's outcome with all edits.
        apply_without: returns the engine's outcome without the edits for the given findings.

    Raises:
        devfix.verify.RunError: a run could not be made, or the patch changes files outside the project.

    """
    reasons = _unreached_reasons(experiment, outcome)
    if reasons:
        outcome = apply_without(list(reasons))
    edits = _edits(outcome)
    if not edits:
        return Proved(_with_reasons(outcome, reasons), None, {})
    seen: dict[tuple[tuple[str, bytes], ...], Verdict] = {}

    def verdict_on(candidate: Outcome) -> Verdict:
        changes = changes_of(experiment.project, candidate)
        key = tuple(sorted(changes.items()))
        if key not in seen:
            seen[key] = experiment.prove(changes)
        return seen[key]

    first = verdict_on(outcome)
    if first.status == "fixed":
        return Proved(_with_reasons(outcome, reasons), first, changes_of(experiment.project, outcome))
    for dropped in _dropped_candidates(edits) if first.status in _DEPENDS_ON_PATCH else ():
        candidate = apply_without([*reasons, *dropped])
        if not candidate.patch.files:
            continue
        verdict = verdict_on(candidate)
        if verdict.status == "fixed":
            reason = f"the edit was dropped, because the verdict with it is {first.status}: {first.reason}"
            reasons.update(dict.fromkeys(dropped, reason))
            return Proved(_with_reasons(candidate, reasons), verdict, changes_of(experiment.project, candidate))
        if len(seen) >= MAX_ATTEMPTS:
            break
    reason = f"nothing was written, because the verdict is {first.status}: {first.reason}"
    reasons.update(dict.fromkeys(edits, reason))
    empty = replace(outcome, patch=Patch())
    return Proved(_with_reasons(empty, reasons), first, changes_of(experiment.project, outcome))


def prove_on_machines(
    experiment: Experiment, machines: Sequence[Machine], outcome: Outcome, apply_without: ApplyWithout
) -> tuple[Outcome, Matrix | None]:
    """Run a script with a patch on several machines, and drop the patch unless all runs are good.

    Args:
        experiment: the script to run.
        machines: the machines.
        outcome: the engine's outcome with all edits.
        apply_without: returns the engine's outcome without the edits for the given findings.

    Returns:
        The outcome with the edits in files that the script imports if every machine is good, else without edits; and
        the runs, None if there were no edits.

    Raises:
        devfix.verify.RunError: a run could not be made, or the patch changes files outside the project.

    """
    reasons = _unreached_reasons(experiment, outcome)
    if reasons:
        outcome = apply_without(list(reasons))
    edits = _edits(outcome)
    if not edits:
        return _with_reasons(outcome, reasons), None
    matrix = run_matrix(experiment, machines, changes_of(experiment.project, outcome))
    if not matrix.is_good:
        bad = ", ".join(row.machine.name for row in matrix.rows if not row.is_good)
        reasons.update(dict.fromkeys(edits, f"nothing was written, because the script fails or differs on {bad}"))
        outcome = replace(outcome, patch=Patch())
    return _with_reasons(outcome, reasons), matrix


def _edits(outcome: Outcome) -> list[Finding]:
    """Return the findings that the patch fixes."""
    return [item.finding for item in outcome.resolutions if item.status is Status.FIXED]


def _unreached_reasons(experiment: Experiment, outcome: Outcome) -> dict[Finding, str]:
    """Return findings with edits in files that the script does not import, mapped to the reason."""
    script = experiment.project.script
    files = set(program_files(experiment.project))
    found = {}
    for item in outcome.resolutions:
        if item.status is Status.FIXED:
            paths = item.fix.paths if item.fix else (item.finding.path,)
            outside = [path for path in paths if experiment.project.absolute(path) not in files]
            if outside:
                found[item.finding] = f"not verified: {script} does not import {', '.join(outside)}"
    return found


def _dropped_candidates(edits: Sequence[Finding]) -> Iterator[tuple[Finding, ...]]:
    """Yield the edits to drop: each single one, then each pair, and so on, but never all."""
    for number in range(1, len(edits)):
        yield from combinations(edits, number)


def _identity(finding: Finding) -> tuple[str, str, int, int, str]:
    """Return the parts of a finding that do not change when other edits rewrite source lines of its trace."""
    return finding.code, finding.path, finding.span.line, finding.span.column, finding.message


def _with_reasons(outcome: Outcome, reasons: dict[Finding, str]) -> Outcome:
    """Return the outcome with the findings of ``reasons`` marked as not fixed, for these reasons."""
    by_identity = {_identity(finding): reason for finding, reason in reasons.items()}

    def with_reason(item: Resolution) -> Resolution:
        reason = by_identity.get(_identity(item.finding))
        return item if reason is None else replace(item, status=Status.NOT_FIXED, reason=reason)

    return replace(outcome, resolutions=tuple(with_reason(item) for item in outcome.resolutions))
