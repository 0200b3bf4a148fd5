"""Options and runs shared by ``verify``, ``trace``, ``apply --verify`` and ``apply --trace``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from devfix.cli._agents import AGENT
from devfix.cli._errors import CommandError
from devfix.cli._machines import named_machines, report_matrix
from devfix.cli._output_pages import print_run, require_jinja2, write_page

if TYPE_CHECKING:
    from devfix.cli._progress import Progress
    from devfix.model import Finding, Outcome
    from devfix.verify.experiment import Experiment
    from devfix.verify.matrix import Machine, Matrix
    from devfix.verify.result import Proof

__all__ = [
    "GivenPatch",
    "ProofRequest",
    "ScriptCommand",
    "convert_run_errors",
    "prove_outcome",
    "prove_port",
    "run_options",
    "show_proof",
    "take_run_options",
    "verify",
]

_LIMITS = (
    *("module", "device", "devices", "max_steps", "timeout", "memory", "python"),
    *("cwd", "project", "setup", "torchrun", "compiled", "disk", "allow_read"),
)

#: Copied from ``devfix.verify``, which is slow to import for ``--help``.
_DEVICES = ("auto", "cuda", "mps", "xpu", "npu", "sim", "sim:mps", "sim:xpu", "sim:npu", "cpu")

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("-m", "--module", is_flag=True, help="Run SCRIPT as a module, like python -m."),
    click.option(
        "--device",
        type=click.Choice(_DEVICES),
        default="auto",
        show_default=True,
        help="Device to run on. cuda, mps, xpu, npu: real hardware. sim, sim:mps, sim:xpu, sim:npu: simulated (sim:"
        " CUDA). auto: CUDA if torch.cuda.is_available(), else sim. cpu: for errors that occur without an accelerator.",
    ),
    click.option(
        "--devices",
        type=click.IntRange(min=1, max=16),
        default=1,
        show_default=True,
        metavar="N",
        help="Number of simulated devices.",
    ),
    click.option("--max-steps", type=click.IntRange(min=1), metavar="N", help="Stop each run after N optimizer steps."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=120.0,
        show_default=True,
        metavar="S",
        help="Time limit of each run, in seconds.",
    ),
    click.option(
        "--memory",
        type=click.IntRange(min=256),
        default=8192,
        show_default=True,
        metavar="MB",
        help="Memory limit of each run, in MB.",
    ),
    click.option(
        "--disk",
        type=click.IntRange(min=64),
        default=16384,
        show_default=True,
        metavar="MB",
        help="Disk limit of each run, in MB: the copy of the project, and what the script writes there and to /tmp.",
    ),
    click.option(
        "--allow-read",
        multiple=True,
        type=click.Path(exists=True),
        metavar="PATH",
        help="File or folder that the script may read, although it is hidden or not copied by default (repeatable):"
        " data in the home folder, or a .env file of the project.",
    ),
    click.option(
        "--python",
        metavar="PY",
        help="Python interpreter (default: the project's virtual environment, or devfix's interpreter).",
    ),
    click.option(
        "--cwd",
        metavar="DIR",
        help="Working directory of the script (default: the current directory). Directories outside the project are not"
        " copied.",
    ),
    click.option("--project", metavar="DIR", help="Directory to copy for each run (default: the script's repository)."),
    click.option(
        "--torchrun",
        is_flag=True,
        help="Launch like torchrun, with one process on the last device (default: if the script reads torchrun's"
        " environment variables).",
    ),
    click.option(
        "--compile", "compiled", is_flag=True, help="Keep torch.compile enabled; needs a real device for a verdict."
    ),
    click.option("--setup", metavar="ARGS", help="Run SCRIPT with ARGS first, for example to write a checkpoint."),
)


def run_options(function: _Function) -> _Function:
    """Add the options for device, limits and environment of runs to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


class ScriptCommand(click.Command):
    """A command whose error for unknown options explains how to pass options to the script."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            hint = "put options of the script after '--'"
            raise click.UsageError(f"{error.format_message().removesuffix('.')}; {hint}", ctx) from error


@contextmanager
def convert_run_errors() -> Iterator[None]:
    """Turn errors of starting a run into :class:`CommandError`."""
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
    disk: int,
    max_steps: int | None,
    setup: str | None,
    project: str | None,
    allow_read: tuple[str, ...],
    **given: Any,
) -> Experiment:
    """Return the experiment for a script, its arguments, and the run options."""
    from devfix.verify.experiment import Limits, prepare
    from devfix.verify.sandbox import named_paths

    words: list[str] = []
    if setup is not None:
        import shlex

        try:
            words = shlex.split(setup)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--setup") from error
    return prepare(
        script,
        args,
        limits=Limits(timeout, memory, max_steps, disk),
        setup=setup,
        folder=project,
        allow_read=(*map(os.path.abspath, allow_read), *named_paths([*args, *words])),
        **given,
    )


@dataclass(frozen=True)
class ProofRequest:
    """Options of ``apply --verify`` and ``apply --trace``.

    Attributes:
        args: the script's arguments.
        limits: the run options.
        trace: whether ``--trace`` was given.
        machines: the machines of ``port --verify``; the script is then the first of the arguments.

    """

    args: tuple[str, ...]
    limits: dict[str, Any]
    trace: bool = False
    machines: tuple[Machine, ...] = ()

    def script(self, paths: tuple[str, ...]) -> str:
        """Return the script, the first path that is not a directory.

        Raises:
            click.UsageError: all paths are directories.

        """
        if self.machines:
            return self.args[0]
        option = "--trace" if self.trace else "--verify"
        script = next((path for path in paths if not os.path.isdir(path)), None)
        if script is None:
            raise click.UsageError(
                f"{option} requires a script among the paths, as in devfix apply train.py . {option}"
            )
        return script

    def prepare(self, paths: tuple[str, ...]) -> Experiment:
        """Return the experiment for the script among the paths."""
        args = self.args[1:] if self.machines else self.args
        with convert_run_errors():
            return prepare_experiment(self.script(paths), args, keep=False, **self.limits)


def take_run_options(
    context: click.Context, given: dict[str, Any], args: tuple[str, ...], *, wanted: bool, trace: bool = False
) -> ProofRequest | None:
    """Remove the run options from ``given`` and return the request, or None if nothing is to run.

    Args:
        context: the click context.
        given: the values of all options; run options are removed.
        args: the script's arguments.
        wanted: whether ``--verify`` or ``--trace`` was given.
        trace: whether ``--trace`` was given.

    Raises:
        click.UsageError: run options were given without ``--verify`` and ``--trace``.

    """
    limits = {name: given.pop(name) for name in _LIMITS}
    if wanted:
        return ProofRequest(args, limits, trace)
    for name in _LIMITS:
        if context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None):  # None: not of this command
            option = next(each for each in context.command.params if each.name == name)
            raise click.UsageError(f"{option.opts[-1]} requires --verify or --trace.")
    return None


def prove_outcome(
    outcome: Outcome,
    again: Callable[[Sequence[Finding]], Outcome],
    paths: tuple[str, ...],
    request: ProofRequest,
    progress: Progress,
) -> tuple[Outcome, Proof | None]:
    """Return the outcome with verified fixes only, and the proof; None if there is nothing to verify."""
    from devfix.verify.subset import prove_subset

    request.script(paths)
    if not outcome.patch.files:
        return outcome, None
    experiment = request.prepare(paths)
    experiment.report = progress.of_runs()
    with convert_run_errors():
        found = prove_subset(experiment, outcome, again)
    if found.verdict is None:
        return found.outcome, None
    from devfix.verify.result import Proof

    return found.outcome, Proof(experiment, found.verdict, found.changes)


def prove_port(
    outcome: Outcome, again: Callable[[Sequence[Finding]], Outcome], request: ProofRequest, progress: Progress
) -> tuple[Outcome, Matrix | None]:
    """Return the outcome without edits unless the script is good on all machines, and the runs."""
    from devfix.verify.subset import prove_on_machines

    if not outcome.patch.files:
        return outcome, None
    experiment = request.prepare(())
    experiment.report = progress.of_runs()
    with convert_run_errors():
        return prove_on_machines(experiment, request.machines, outcome, again)


def show_proof(proof: Proof, verbosity: int, *, stderr: bool) -> None:
    """Print a proof to standard output or standard error."""
    from devfix.report.runs import verdict

    if verbosity < 0:
        click.echo(verdict.sentence(proof), err=stderr)
    else:
        verdict.show(proof, verdict.console(stderr=stderr))


def verify(
    script: str,
    args: tuple[str, ...],
    patch: GivenPatch,
    machines: str | None,
    output_format: str,
    page: str | None,
    **given: Any,
) -> int:
    """Verify fixes of a script on one device or on several machines, print the result, and return the exit code."""
    from devfix.cli._progress import progress
    from devfix.verify.result import Proof

    if output_format == "html" or page is not None:
        require_jinja2("--output-format html" if output_format == "html" else "--html")
    named = None if machines is None else named_machines(machines)
    with ExitStack() as open_trees, convert_run_errors():
        with progress() as told:
            experiment = prepare_experiment(script, args, **given)
            experiment.report = told.of_runs()
            changes, notes = patch.read(experiment, open_trees, told)
            if named is not None:
                from devfix.verify.matrix import run_matrix

                matrix = run_matrix(experiment, named, changes)
                matrix = replace(matrix, notes=(*notes, *matrix.notes))
            else:
                proof = Proof(experiment, experiment.prove(changes), changes, notes)
        if named is not None:
            return report_matrix(matrix, output_format, page, _command_after(matrix.is_good, matrix, patch))
        return _report(proof, output_format, page, patch)


@dataclass(frozen=True)
class GivenPatch:
    """The patch to verify: a path or diff, the edits since a revision, or by default the result of ``apply``."""

    path: str | None = None
    since: str | None = None
    unsafe_fixes: bool = False

    def __post_init__(self) -> None:
        given = {"--patched": self.path is not None, "--since": self.since is not None}
        options = [option for option, is_given in {**given, "--unsafe-fixes": self.unsafe_fixes}.items() if is_given]
        if len(options) > 1:
            raise click.UsageError(f"{options[0]} and {options[1]} exclude each other.")

    @property
    def is_given(self) -> bool:
        """Whether the patch was given, so that its files are written already."""
        return self.path is not None or self.since is not None

    def read(
        self, experiment: Experiment, open_trees: ExitStack, told: Progress
    ) -> tuple[dict[str, bytes], tuple[str, ...]]:
        """Return the new contents of files, and notes; ``experiment`` gets the original of a revision."""
        from devfix.verify import patches
        from devfix.verify.sandbox.revision import tree_at

        project = experiment.project
        if self.path is not None:
            return patches.read_patch(project, self.path), ()
        if self.since is not None:
            tree, changes = open_trees.enter_context(tree_at(project.root, self.since, experiment.allow_read))
            experiment.project = project._replace(tree=tree)
            return changes, ()
        outcome = patches.outcome_for(project, unsafe_fixes=self.unsafe_fixes, progress=told)
        return patches.changes_of(project, outcome), patches.unfixed_notes(outcome)


def _report(proof: Proof, output_format: str, page: str | None, patch: GivenPatch) -> int:
    """Print a proof, and return the exit code."""
    if page is not None:
        from devfix.cli._invocation import about
        from devfix.report.runs import verdict_html

        write_page(page, verdict_html.page(proof, about(proof.experiment.project.root)))
    if output_format == AGENT:
        from devfix.report.runs import verdict_agent

        command = _command_after(proof.verdict.good, proof, patch)
        click.echo(verdict_agent.dumps(proof, command), nl=False)
        return proof.exit_code
    print_run(proof, output_format, text="verdict", json="verdict", html="verdict_html")
    return proof.exit_code


def _command_after(is_good: bool, result: Proof | Matrix, patch: GivenPatch) -> str:
    """Return the command that follows a verdict."""
    from devfix.report.agent.next_command import shell_line

    project = result.experiment.project
    script = project.shown(project.script)
    if is_good:
        is_written = patch.is_given or not result.changed
        paths = [project.shown(str(project.root / path)) for path in result.changed]
        options = ["--unsafe-fixes"] if patch.unsafe_fixes else []
        return "" if is_written else shell_line(["apply", *dict.fromkeys([script, *paths]), *options])
    return shell_line(["trace", script, "--", *result.experiment.args])
