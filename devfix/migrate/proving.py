"""The patch of one repository, proved by running its script, and the proof in short."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from devfix.migrate.record import RunSummary, VerdictSummary, every_nth
from devfix.migrate.task import Verification
from devfix.model import Finding, Outcome
from devfix.verify.experiment import Experiment, Limits, prepare
from devfix.verify.result import Proof
from devfix.verify.subset import provable

__all__ = ["prove", "proved"]

_OUTPUT_KEPT = 4000


def prove(
    tree: Path, folder: Path, wanted: Verification, outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome]
) -> tuple[Outcome, VerdictSummary | None]:
    """The outcome with what is proved, and the verdict; None where no edit lies in what the script imports.

    Args:
        tree: the worktree, which is copied for each run.
        folder: the folder in it where runs start.
        wanted: the script, and how it runs.
        outcome: what the engine would do; nothing is written yet.
        again: what it would do without some findings.

    Raises:
        devfix.verify.RunError: a run could not be made.

    """
    with _copies_in(tree.parent):
        return proved(tree, folder, wanted, outcome, again)


def proved(
    tree: Path, folder: Path, wanted: Verification, outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome]
) -> tuple[Outcome, VerdictSummary | None]:
    """As :func:`prove`, with copies where temporary files lie."""
    experiment = prepare(
        wanted.script if wanted.module else str(folder / wanted.script),
        wanted.args,
        device=wanted.device,
        python=wanted.python or None,
        cwd=str(folder),
        folder=str(tree),
        module=wanted.module,
        limits=Limits(wanted.timeout, wanted.memory_mb, wanted.max_steps),
        setup=wanted.setup or None,
    )
    experiment = _with_setup_script(experiment, folder)
    found = provable(experiment, outcome, again)
    if found.verdict is None:
        return found.outcome, None
    return found.outcome, _summary(experiment, Proof(experiment, found.verdict, found.changes))


def _with_setup_script(experiment: Experiment, folder: Path) -> Experiment:
    """Where the setup begins with a script of the repository, that one runs first, with the other arguments."""
    root = experiment.project.root.resolve()
    first, *others = experiment.setup or ("",)
    named = (folder / first).resolve()
    if experiment.project.module or not (first.endswith(".py") and named.is_file() and named.is_relative_to(root)):
        return experiment
    return replace(experiment, setup=tuple(others), setup_script=str(named.relative_to(root)))


@contextmanager
def _copies_in(folder: Path) -> Iterator[None]:
    """Copies for runs lie beside the worktree, so that they go with it where this process is killed."""
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _summary(experiment: Experiment, proof: Proof) -> VerdictSummary:
    verdict = proof.verdict
    return VerdictSummary(
        status=verdict.status,
        reason=verdict.reason,
        good=verdict.good,
        silent=verdict.silent,
        reference=verdict.reference,
        where=proof.where,
        script=experiment.project.script,
        arguments=experiment.args,
        notes=proof.remarks,
        runs={name: _run(proof, name) for name in verdict.runs},
    )


def _run(proof: Proof, name: str) -> RunSummary:
    run = proof.verdict.runs[name]
    losses, stride = every_nth(tuple(run.losses))
    return RunSummary(
        outcome=run.outcome,
        ok=run.ok,
        steps=run.steps,
        losses=losses,
        stride=stride,
        largest_difference=proof.difference(name),
        wall_s=run.wall,
        memory_mb=run.memory_mb,
        output=run.output[-_OUTPUT_KEPT:],
        traceback="" if run.failure is None else run.failure.traceback[-_OUTPUT_KEPT:],
    )
