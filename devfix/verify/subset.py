"""Of several edits, those that can be proved: drop some, run the script again, until the verdict is good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from devfix.model import Finding, Outcome, Patch, Resolution, Status
from devfix.verify.experiment import Experiment
from devfix.verify.patches import Changes, changes_of, program_files
from devfix.verify.verdict import Verdict

__all__ = ["MOST_ATTEMPTS", "Proved", "provable"]

MOST_ATTEMPTS = 16

#: Verdicts that another patch may change; the others say something of the script itself.
_OPEN = ("not-fixed", "loss-differs", "broken")

Again = Callable[[Sequence[Finding]], Outcome]


@dataclass(frozen=True)
class Proved:
    """What may be written, and the verdict on it.

    Attributes:
        outcome: its patch holds what is proved, and is empty where nothing is; findings say why their edit was dropped.
        verdict: on the patch that is left, or where none is left on the one with all edits; None if no edit was made.
        changes: what ``verdict`` is about: new contents of files, by their path within the project.

    """

    outcome: Outcome
    verdict: Verdict | None
    changes: Changes


def provable(experiment: Experiment, outcome: Outcome, again: Again) -> Proved:
    """Prove a patch, or the largest part of it that can be proved.

    Args:
        experiment: the script that is to tell.
        outcome: what the engine would do.
        again: what it would do without the edits for some findings.

    Raises:
        devfix.verify.RunError: a run could not be made, or the patch changes files outside the project.

    """
    reasons = _not_reached(experiment, outcome)
    if reasons:
        outcome = again(list(reasons))
    edits = _edits(outcome)
    if not edits:
        return Proved(_explained(outcome, reasons), None, {})
    seen: dict[tuple[tuple[str, bytes], ...], Verdict] = {}

    def verdict_on(candidate: Outcome) -> Verdict:
        changes = changes_of(experiment.project, candidate)
        key = tuple(sorted(changes.items()))
        if key not in seen:
            seen[key] = experiment.prove(changes)
        return seen[key]

    first = verdict_on(outcome)
    if first.status == "fixed":
        return Proved(_explained(outcome, reasons), first, changes_of(experiment.project, outcome))
    for dropped in _smaller(edits) if first.status in _OPEN else ():
        candidate = again([*reasons, *dropped])
        if not candidate.patch.files:
            continue
        verdict = verdict_on(candidate)
        if verdict.status == "fixed":
            with_it = f"the edit was dropped, because the verdict with it is {first.status}: {first.reason}"
            reasons.update(dict.fromkeys(dropped, with_it))
            return Proved(_explained(candidate, reasons), verdict, changes_of(experiment.project, candidate))
        if len(seen) >= MOST_ATTEMPTS:
            break
    withheld = f"nothing was written, because the verdict is {first.status}: {first.reason}"
    reasons.update(dict.fromkeys(edits, withheld))
    nothing = replace(outcome, patch=Patch())
    return Proved(_explained(nothing, reasons), first, changes_of(experiment.project, outcome))


def _edits(outcome: Outcome) -> list[Finding]:
    """The findings that the patch repairs, each by an edit of its own."""
    return [item.finding for item in outcome.resolutions if item.status is Status.FIXED]


def _not_reached(experiment: Experiment, outcome: Outcome) -> dict[Finding, str]:
    """Findings whose edits lie in files that the script does not import: running it proves nothing of them."""
    script = experiment.project.script
    files = set(program_files(experiment.project))
    found = {}
    for item in outcome.resolutions:
        if item.status is Status.FIXED:
            paths = item.fix.paths if item.fix else (item.finding.path,)
            outside = [path for path in paths if experiment.project.absolute(path) not in files]
            if outside:
                found[item.finding] = f"not proved: {script} does not import {', '.join(outside)}"
    return found


def _smaller(edits: Sequence[Finding]) -> Iterator[tuple[Finding, ...]]:
    """What to drop: one edit, then two, and so on; all of them leaves nothing to prove."""
    for number in range(1, len(edits)):
        yield from combinations(edits, number)


def _identity(finding: Finding) -> tuple[str, str, int, int, str]:
    """What stays the same where the source lines of a finding's story are rewritten for another one."""
    return finding.code, finding.path, finding.span.line, finding.span.column, finding.message


def _explained(outcome: Outcome, reasons: dict[Finding, str]) -> Outcome:
    """The outcome in which the findings of ``reasons`` are not fixed, and say why."""
    known = {_identity(finding): reason for finding, reason in reasons.items()}

    def explained(item: Resolution) -> Resolution:
        reason = known.get(_identity(item.finding))
        return item if reason is None else replace(item, status=Status.NOT_FIXED, reason=reason)

    return replace(outcome, resolutions=tuple(explained(item) for item in outcome.resolutions))
