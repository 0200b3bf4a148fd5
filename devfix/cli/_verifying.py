"""What ``verify`` and ``apply --verify`` share: options, errors, and the run itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from devfix.cli._errors import CommandError
from devfix.cli._output_pages import print_run, require_jinja2

if TYPE_CHECKING:
    from devfix.model import Finding, Outcome
    from devfix.verify.experiment import Experiment
    from devfix.verify.result import Proof

__all__ = [
    "ProofRequest",
    "ScriptCommand",
    "convert_run_errors",
    "prove_outcome",
    "run_options",
    "show_proof",
    "take_run_options",
    "verify",
]

_LIMITS = (
    *("module", "device", "devices", "max_steps", "timeout", "memory", "python"),
    *("cwd", "project", "setup", "torchrun", "compiled"),
)

#: Spelled out: the module that has them imports more than ``--help`` needs.
_DEVICES = ("auto", "cuda", "mps", "xpu", "sim", "sim:mps", "sim:xpu", "cpu")

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("-m", "--module", is_flag=True, help="Start the script as a module, as python -m does."),
    click.option(
        "--device",
        type=click.Choice(_DEVICES),
        default="auto",
        show_default=True,
        help="cuda, mps, xpu: a real one. sim, sim:mps, sim:xpu: simulated (sim: CUDA). auto: CUDA where the"
        " interpreter's torch sees it, else simulated. cpu: for a bug that shows without an accelerator.",
    ),
    click.option(
        "--devices",
        type=click.IntRange(min=1, max=16),
        default=1,
        show_default=True,
        metavar="N",
        help="How many devices are simulated.",
    ),
    click.option("--max-steps", type=click.IntRange(min=1), metavar="N", help="End each run after N optimizer steps."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=120.0,
        show_default=True,
        metavar="S",
        help="Seconds for each run.",
    ),
    click.option(
        "--memory",
        type=click.IntRange(min=256),
        default=8192,
        show_default=True,
        metavar="MB",
        help="Memory for each run.",
    ),
    click.option(
        "--python", metavar="PY", help="The interpreter (default: the project's virtual environment, or ours)."
    ),
    click.option(
        "--cwd",
        metavar="DIR",
        help="Where the script starts (default: the current folder). Inside the project it is the copy; outside,"
        " as for data, it is not copied.",
    ),
    click.option(
        "--project", metavar="DIR", help="The folder that is copied for each run (default: the script's repository)."
    ),
    click.option(
        "--torchrun",
        is_flag=True,
        help="Start as torchrun does, with one process, told to use the last device (default: where the script asks for"
        " its variables).",
    ),
    click.option(
        "--compile", "compiled", is_flag=True, help="Leave torch.compile on; only a real device can judge it."
    ),
    click.option("--setup", metavar="ARGS", help="Run with these arguments first, as to write a checkpoint."),
)


def run_options(function: _Function) -> _Function:
    """Where and how far the script runs."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


class ScriptCommand(click.Command):
    """Options of the script are a likely mistake: ``python`` takes them without a mark between."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            hint = "Options of the script itself follow after '--'."
            raise click.UsageError(f"{error.format_message()} {hint}", ctx) from error


@contextmanager
def convert_run_errors() -> Iterator[None]:
    """A run that could not be made is wrong usage, told in one line."""
    from devfix.verify.records import RunError

    try:
        yield
    except RunError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        if error.filename is None:
            raise
        raise CommandError(f"{error.filename}: {error.strerror}") from error


def prepare_experiment(
    script: str,
    args: tuple[str, ...],
    *,
    timeout: float,
    memory: int,
    max_steps: int | None,
    setup: str | None,
    project: str | None,
    **given: Any,
) -> Experiment:
    """The experiment that the options ask for."""
    from devfix.verify.experiment import Limits, prepare

    if setup is not None:
        import shlex

        try:
            shlex.split(setup)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--setup") from error
    return prepare(script, args, limits=Limits(timeout, memory, max_steps), setup=setup, folder=project, **given)


@dataclass(frozen=True)
class ProofRequest:
    """``apply --verify`` or ``--trace``: the script's arguments, the options for its runs, and which of the two."""

    args: tuple[str, ...]
    limits: dict[str, Any]
    trace: bool = False

    def script(self, paths: tuple[str, ...]) -> str:
        """The script among the paths; raises ``click.UsageError`` where there is none."""
        option = "--trace" if self.trace else "--verify"
        script = next((path for path in paths if not os.path.isdir(path)), None)
        if script is None:
            raise click.UsageError(
                f"{option} runs a script: name it among the paths, as in devfix apply train.py . {option}"
            )
        return script

    def prepare(self, paths: tuple[str, ...]) -> Experiment:
        """The experiment that was asked for."""
        with convert_run_errors():
            return prepare_experiment(self.script(paths), self.args, keep=False, **self.limits)


def take_run_options(
    context: click.Context, given: dict[str, Any], args: tuple[str, ...], *, wanted: bool, trace: bool = False
) -> ProofRequest | None:
    """Take the options for runs out of ``given``; raises ``click.UsageError`` where nothing is to run."""
    limits = {name: given.pop(name) for name in _LIMITS}
    if wanted:
        return ProofRequest(args, limits, trace)
    for name in _LIMITS:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = next(each for each in context.command.params if each.name == name)
            raise click.UsageError(f"{option.opts[-1]} goes with --verify or --trace.")
    return None


def prove_outcome(
    outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome], paths: tuple[str, ...], request: ProofRequest
) -> tuple[Outcome, Proof | None]:
    """The outcome with what is proved, and the proof; None where there was nothing to prove."""
    from devfix.verify.subset import prove_subset

    request.script(paths)
    if not outcome.patch.files:
        return outcome, None
    experiment = request.prepare(paths)
    with convert_run_errors():
        found = prove_subset(experiment, outcome, again)
    if found.verdict is None:
        return found.outcome, None
    from devfix.verify.result import Proof

    return found.outcome, Proof(experiment, found.verdict, found.changes)


def show_proof(proof: Proof, verbosity: int) -> None:
    """Show a proof beside the report of edits, on standard error."""
    from devfix.report.runs import verdict

    if verbosity < 0:
        click.echo(verdict.sentence(proof), err=True)
    else:
        verdict.show(proof, verdict.console(stderr=True))


def verify(
    script: str, args: tuple[str, ...], patched: str | None, output_format: str, page: str | None, **given: Any
) -> int:
    """Do what ``devfix verify`` was asked for and return the exit code."""
    from devfix.cli._interrupts import interruptible
    from devfix.verify import patches
    from devfix.verify.result import Proof

    if output_format == "html" or page is not None:
        require_jinja2("--output-format html" if output_format == "html" else "--html")
    with interruptible(), convert_run_errors():
        experiment = prepare_experiment(script, args, **given)
        notes: tuple[str, ...] = ()
        if patched is not None:
            changes = patches.read_patch(experiment.project, patched)
        else:
            outcome = patches.outcome_for(experiment.project)
            changes, notes = patches.changes_of(experiment.project, outcome), patches.unfixed_notes(outcome)
        proof = Proof(experiment, experiment.prove(changes), changes, notes)
        if page is not None:
            from devfix.report.runs import verdict_html

            with open(page, "wb") as file:
                file.write(verdict_html.page(proof).encode())
    print_run(proof, output_format, text="verdict", json="verdict", html="verdict_html")
    return proof.exit_code
