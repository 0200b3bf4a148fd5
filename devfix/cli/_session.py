"""One run of ``apply`` or ``check``: sources, engine, disk, report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from devfix import config, engine, landing, sources
from devfix.cache import Cache, default_folder
from devfix.cli._interrupts import interruptible
from devfix.cli._known import known_rules, with_local
from devfix.cli._output import Output, check_output, refuse_source, write_stdout
from devfix.config import Settings
from devfix.model import Finding, Outcome, Patch, Problem, Severity
from devfix.relocation import relocated
from devfix.report import Mode, Report
from devfix.report._view import View
from devfix.report.formats import FORMATS
from devfix.report.positions import Texts
from devfix.sources import SourceFile

if TYPE_CHECKING:
    from devfix.cli._verifying import ProofRequest

__all__ = ["Request", "run"]

_STDIN = "-"
_MOST_JOBS = 60  # Windows waits for no more than 63 processes


@dataclass(frozen=True)
class Request:
    """The command line, checked."""

    mode: Mode
    paths: tuple[str, ...]
    diff: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    severity: Severity | None
    unsafe_fixes: bool
    stdin_filename: str | None
    output_format: str
    output_file: str | None
    statistics: bool
    jobs: int
    verbosity: int
    config_file: str | None
    isolated: bool
    no_cache: bool
    since: str | None = None
    force_exclude: bool = False
    staged: bool = False
    proof: ProofRequest | None = None

    @classmethod
    def of(
        cls,
        mode: Mode,
        *,
        paths: tuple[str, ...],
        severity: str | None,
        jobs: int | None,
        quiet: int,
        verbose: int,
        diff: bool = False,
        unsafe_fixes: bool = False,
        **same: Any,
    ) -> Request:
        """From click's values; raises ``click.UsageError`` for what does not go together."""
        if _STDIN in paths and len(paths) > 1:
            raise click.UsageError("'-' stands alone: standard input is one file.")
        if same["stdin_filename"] is not None and _STDIN not in paths:
            raise click.UsageError("--stdin-filename goes with '-'.")
        if same["isolated"] and same["config_file"] is not None:
            raise click.UsageError("--isolated and --config exclude each other.")
        if same.get("proof") is not None and _STDIN in paths:
            raise click.UsageError(
                f"{'--trace' if same['proof'].trace else '--verify'} runs a script: name its file instead of '-'."
            )
        if same["since"] is not None or same["staged"]:
            _check_changed(paths, same["since"], same["staged"], same.get("proof"))
        check_output(same["output_format"], same["output_file"], same["statistics"])
        return cls(
            mode=mode,
            paths=paths,
            diff=diff,
            severity=Severity(severity) if severity else None,
            unsafe_fixes=unsafe_fixes,
            jobs=min(jobs or _cores(), _MOST_JOBS),
            verbosity=verbose - quiet,
            **same,
        )

    @property
    def stdin(self) -> bool:
        return self.paths == (_STDIN,)

    @property
    def filters(self) -> bool:
        """Whether standard output belongs to the repaired text of standard input."""
        return self.stdin and self.mode is Mode.APPLY


def _check_changed(paths: tuple[str, ...], since: str | None, staged: bool, proof: ProofRequest | None) -> None:
    flag = "--staged" if staged else "--since"
    if since is not None and staged:
        raise click.UsageError("--since and --staged exclude each other.")
    if _STDIN in paths:
        raise click.UsageError(f"{flag} asks git about files: name them instead of '-'.")
    if proof is not None and (staged or proof.trace):
        runs = "--trace" if proof.trace else "--verify"
        raise click.UsageError(f"{runs} runs the files of the working tree as they are: {flag} does not go with it.")


def run(request: Request) -> int:
    """Do what was asked for and return the exit code."""
    cache = None if request.no_cache or request.stdin else Cache(default_folder())
    with interruptible(), closing(cache) if cache is not None else nullcontext():
        return _run(request, cache)


def _run(request: Request, cache: Cache | None) -> int:
    settings = _settings(request)
    if request.force_exclude:
        request = replace(request, paths=_not_excluded(request.paths, settings))
    tracing = None
    if request.proof is not None and request.proof.trace:
        from devfix.cli._repairing import Tracing

        tracing = Tracing(request.proof, request.paths, settings)
        request = replace(request, paths=tracing.paths)
    files, problems, raw = _files(request, settings)
    refuse_source(request.output_file, files)
    scope = None
    if request.since is not None or request.staged:
        from devfix.cli._changed import limited

        files, problems, scope = limited(request, settings, files, problems)
    work = engine.check if request.mode is Mode.CHECK else engine.apply
    outcome = work(files, settings, request.jobs, cache=cache, scope=scope)
    proof = None
    if request.proof is not None:
        from devfix.cli._verifying import proved

        def again(without: Sequence[Finding]) -> Outcome:
            return engine.apply(files, settings, request.jobs, without=without, scope=scope)

        if tracing is not None:
            outcome, proof = tracing.repaired(outcome, again, request.verbosity)
        else:
            outcome, proof = proved(outcome, again, request.paths, request.proof)
    outcome = _with_problems(outcome, problems)
    tried = outcome
    if request.mode is Mode.CHECK and outcome.resolutions and FORMATS[request.output_format].fixes:
        tried = engine.apply(files, settings, request.jobs, cache=cache, scope=scope)
    if request.filters:
        write_stdout(outcome.patch.files[0].new if outcome.patch.files else raw)
    elif request.mode is Mode.APPLY:
        outcome = landing.land(outcome, whole=request.proof is not None)
    texts = Texts(tried.patch, files)
    if request.mode is Mode.APPLY:
        outcome, files = relocated(outcome, files)
        tried, texts = Outcome(), Texts(Patch(), files)  # what is left has no fix
    report = Report(outcome, request.mode)
    view = View(report, texts, tried, proof)
    Output(request.output_format, request.output_file, request.statistics, request.verbosity).show(
        view, diff=request.diff, filters=request.filters
    )
    return report.exit_code


def _not_excluded(paths: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    def left_out(path: str) -> bool:
        return os.path.isfile(path) and sources.excluded(path, settings.exclude, settings.root)

    return tuple(path for path in paths if not left_out(path))


def _settings(request: Request) -> Settings:
    paths = (request.stdin_filename or os.curdir,) if request.stdin else request.paths
    settings = config.load(paths, known_rules(), request.config_file, request.isolated, with_local)
    known = known_rules()
    return config.override(
        settings,
        known,
        select=request.select,
        ignore=request.ignore,
        severity=request.severity,
        unsafe_fixes=request.unsafe_fixes,
    )


def _files(request: Request, settings: Settings) -> tuple[tuple[SourceFile, ...], tuple[Problem, ...], bytes]:
    """Files, problems, and the bytes of standard input where that is the one file."""
    if not request.stdin:
        files, problems = sources.load(request.paths, settings.exclude, settings.root)
        return files, problems, b""
    raw = sys.stdin.buffer.read()
    try:
        return (sources.decode(request.stdin_filename or "stdin.py", raw),), (), raw
    except sources.SourceError as error:
        return (), (error.problem,), raw


def _with_problems(outcome: Outcome, problems: tuple[Problem, ...]) -> Outcome:
    together = sorted((*outcome.problems, *problems), key=lambda problem: (problem.path, problem.line))
    return replace(outcome, problems=tuple(together))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
