"""Verification of a repository's patch by running its script, and a summary of the verdict."""

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
from devfix.verify.subset import prove_subset

__all__ = ["prove", "prove_in_place"]

_MAX_OUTPUT = 4000


def prove(
    tree: Path,
    folder: Path,
    verification: Verification,
    outcome: Outcome,
    rerun: Callable[[Sequence[Finding]], Outcome],
) -> tuple[Outcome, VerdictSummary | None]:
    """Run the script on the original and the patched repository; drop edits that fail.

    Args:
        tree: the worktree, which is copied for each run.
        folder: the working directory of runs, within the worktree.
        verification: the script and its settings.
        outcome: findings and patch; nothing is written yet.
        rerun: returns the outcome of the engine without some findings.

    Returns:
        The outcome with the proved edits, and the verdict; ``None`` if the script imports none of the edited files.

    Raises:
        devfix.verify.RunError: a run could not be started.

    """
    with _temporary_files_in(tree.parent):
        return prove_in_place(tree, folder, verification, outcome, rerun)


def prove_in_place(
    tree: Path,
    folder: Path,
    verification: Verification,
    outcome: Outcome,
    rerun: Callable[[Sequence[Finding]], Outcome],
) -> tuple[Outcome, VerdictSummary | None]:
    """Do the same as :func:`prove`, with copies in the default folder for temporary files."""
    experiment = prepare(
        verification.script if verification.module else str(folder / verification.script),
        verification.args,
        device=verification.device,
        python=verification.python or None,
        cwd=str(folder),
        folder=str(tree),
        module=verification.module,
        limits=Limits(verification.timeout, verification.memory_mb, verification.max_steps),
        setup=verification.setup or None,
    )
    experiment = _with_setup_script(experiment, folder)
    subset = prove_subset(experiment, outcome, rerun)
    if subset.verdict is None:
        return subset.outcome, None
    return subset.outcome, _summary(experiment, Proof(experiment, subset.verdict, subset.changes))


def _with_setup_script(experiment: Experiment, folder: Path) -> Experiment:
    """Run the script named first in the setup, if any, before the others, with the remaining arguments."""
    root = experiment.project.root.resolve()
    first, *arguments = experiment.setup or ("",)
    script = (folder / first).resolve()
    if experiment.project.module or not (first.endswith(".py") and script.is_file() and script.is_relative_to(root)):
        return experiment
    return replace(experiment, setup=tuple(arguments), setup_script=str(script.relative_to(root)))


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Create copies for runs beside the worktree, so that they are deleted with it if this process is killed."""
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
        output=run.output[-_MAX_OUTPUT:],
        traceback="" if run.failure is None else run.failure.traceback[-_MAX_OUTPUT:],
    )
