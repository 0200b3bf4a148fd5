"""Comparison of two runs by everything that they produce: losses, training steps, behavior and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from devfix.verify.evidence import describe_changed_behavior, describe_changed_training
from devfix.verify.loss_comparison import (
    SAME_DIRECTION,
    describe_cosine,
    first_disagreement,
    match,
    on_real_device,
    update_cosine,
)
from devfix.verify.outputs import Difference, differences
from devfix.verify.outputs.lines import has_computed_number
from devfix.verify.records import Run
from devfix.verify.training_invariants import describe_recipe_change

__all__ = [
    "Comparison",
    "changed_outputs",
    "compare",
    "computes_same",
    "describe_dependence",
    "describe_evidence",
    "describe_outputs",
    "repeated",
]


#: Number of outputs that a verdict's reason names.
_MOST_NAMED = 4


@dataclass(frozen=True)
class Comparison:
    """How a run compares with a reference.

    Attributes:
        run: name of the run.
        reference: name of the run with the expected results.
        status: ``same``, ``loss-differs`` or ``output-differs``.
        description: how they agree, or how they differ: a sentence without a subject.
        reached: number of losses before the first difference.
        differences: of what the runs printed and wrote.

    """

    run: str
    reference: str
    status: str
    description: str
    reached: int
    differences: tuple[Difference, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether no difference was found."""
        return self.status == "same"


def repeated(name: str) -> str:
    """Return the name of a second, unchanged run: what differs in it is noise."""
    return f"{name} again"


def compare(runs: Mapping[str, Run], name: str, reference: str, *, outputs: bool = True) -> Comparison:
    """Compare a run with a reference.

    Args:
        runs: by name; if there is a :func:`repeated` run of the reference, outputs that differ in it are ignored, and
            repetitions in float64 decide whether losses differ by rounding.
        name: the run to judge.
        reference: the run with the expected results.
        outputs: compare what the runs print and write as well.

    """
    run, other = runs[name], runs[reference]
    index = first_disagreement(run, other)
    reached = len(other.losses) if index is None else index

    def result(status: str, description: str, changed: tuple[Difference, ...] = ()) -> Comparison:
        return Comparison(name, reference, status, description, reached, changed)

    matched = match(runs, name, reference)
    if not matched.good:
        reason = _describe_loss_difference(run, other, reference, index)
        return result("loss-differs", f"{reason}; {matched.description}" if matched.description else reason)
    change = describe_changed_training(run, other)
    if change is not None:
        return result("loss-differs", _describe_changed_training(reference, change))
    change = describe_changed_behavior(run, other)
    changed = changed_outputs(runs, name, reference) if outputs else ()
    if change is None and changed:
        change = _describe_first(changed)
    if change is not None:
        reason = f"the losses match {reference}, but {change}" if run.losses else f"compared with {reference}, {change}"
        return result("output-differs", reason, changed)
    return result("same", matched.description)


def _describe_loss_difference(run: Run, other: Run, reference: str, index: int | None) -> str:
    if index is None:
        return _describe_changed_training(reference, _describe_other_difference(run, other))
    if index < min(len(run.losses), len(other.losses)):
        return (
            f"the losses differ from {reference} from loss {index + 1} on: {run.losses[index]!r} instead of "
            f"{other.losses[index]!r}"
        )
    return f"{len(run.losses)} losses instead of {len(other.losses)} in {reference}"


def _describe_changed_training(reference: str, change: str) -> str:
    """Return the reason for ``loss-differs`` if the losses that were recorded are equal."""
    return f"the training differs from {reference}, although the recorded losses do not: {change}"


def _describe_other_difference(run: Run, other: Run) -> str:
    """Return the difference of two runs with equal losses."""
    if run.steps != other.steps:
        return f"{run.steps} optimizer steps were made instead of {other.steps}"
    if run.parameters != other.parameters:
        return f"the optimizers have {run.parameters} parameters instead of {other.parameters}"
    cosine = update_cosine(run, other)
    if on_real_device(run, other) and cosine is not None and not cosine >= SAME_DIRECTION:
        return f"the parameter updates differ: {describe_cosine(cosine)}"
    return describe_recipe_change(run, other) or "the final parameters differ"


def changed_outputs(runs: Mapping[str, Run], name: str, reference: str) -> tuple[Difference, ...]:
    """Return what a run printed or wrote differently, or not at all; more lines, files and values are no difference."""
    return tuple(each for each in _all_differences(runs, name, reference) if each.theirs is not None)


def _all_differences(runs: Mapping[str, Run], name: str, reference: str) -> tuple[Difference, ...]:
    run, other = runs[name], runs[reference]
    again = runs.get(repeated(reference))
    elsewhere = None if on_real_device(run, other) else _elsewhere(runs, reference)
    return differences(
        run.outputs,
        other.outputs,
        None if again is None else again.outputs,
        exact=not on_real_device(run, other),
        elsewhere=None if elsewhere is None else elsewhere.outputs,
    )


def _elsewhere(runs: Mapping[str, Run], reference: str) -> Run | None:
    """Return the complete run of the original on another device than the reference's; None if there is none."""
    other = "original/unchecked" if reference == "original/cpu" else "original/cpu"
    if not reference.startswith("original/") or other not in runs or not runs[other].ok:
        return None
    return runs[other]


def _describe_first(changed: Sequence[Difference]) -> str:
    more = len(changed) - 1
    return str(changed[0]) + (f" (and {more} more difference{'s' * (more > 1)})" if more else "")


def computes_same(run: Run, other: Run) -> bool:
    """Whether two runs of one script print the same computed numbers, and write the same arrays; times may differ."""
    return run.outputs.results == other.outputs.results


def describe_evidence(run: Run, reference: Run, unchecked: Run) -> str | None:
    """Return which outputs agree, as the proof of a script without a training; None if no output depends on numbers.

    Printed classes or tokens are such outputs if the numbers from which they were chosen agree with those of the
    original without device checks, ``unchecked``.
    """
    outputs = describe_outputs(reference)
    if run.outputs.is_evidence:
        return f"the outputs match: {outputs}"
    count, _ = run.choices
    if outputs is None or not count or not unchecked.ok or run.choices != unchecked.choices:
        return None
    return f"the outputs match: {outputs}, and so do the numbers behind {count} choice{'s' * (count > 1)}"


def describe_outputs(run: Run) -> str | None:
    """Return the first outputs of a run with their contents; None if it has none."""
    return ", ".join(f"{name} ({contents})" for name, contents in run.outputs.summary[:_MOST_NAMED]) or None


def describe_dependence(runs: Mapping[str, Run], observed: str, unobserved: str) -> str | None:
    """Return how a run without the recorder differs from the one with it; None if only noise differs.

    Additional results of the observed run count: a script that detects the recorder may print what is expected.
    """
    run, other = runs[unobserved], runs[observed]
    if run.stopped is None and run.outcome != other.outcome:
        return f"{unobserved} {run.outcome}, {observed} {other.outcome}"
    changed = _all_differences(runs, observed, unobserved)
    changed = tuple(each for each in changed if each.theirs is not None or has_computed_number(each.ours or ""))
    return _describe_first(changed) if changed else None
