"""A run of ``apply`` or ``check``: read sources, analyze, write files, report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial

from devfix import config, sources
from devfix.cli._interrupts import interruptible
from devfix.cli._invocation import about, arguments
from devfix.cli._output import Output, refuse_source_as_output, write_stdout
from devfix.cli._progress import Progress, progress
from devfix.cli._request import Request
from devfix.cli._rule_names import known_rules
from devfix.config import Settings
from devfix.engine import fixpoint, suppressions, write
from devfix.engine.cache import Cache
from devfix.engine.edited_lines.line_mapping import relocated
from devfix.model import Finding, Outcome, Patch, Problem, Status
from devfix.report import Mode, Report
from devfix.report.formats import FORMATS
from devfix.report.positions import SourceTexts
from devfix.report.view import View
from devfix.rules.trust import import_trusted
from devfix.sources import SourceFile
from devfix.sources.cache_folder import cache_folder

__all__ = ["Request", "run"]


def run(request: Request) -> int:
    """Run a request and return the exit code."""
    if request.show_settings or request.show_files:
        return _show(request)
    cache = None if request.no_cache or request.is_stdin else Cache(cache_folder())
    with interruptible(), closing(cache) if cache is not None else nullcontext():
        with progress(request.verbosity < 0) as told:
            view, filtered = _run(request, cache, told)
        if filtered is not None:
            write_stdout(filtered)
        output = Output(request.output_format, request.output_file, request.statistics, request.verbosity)
        output.show(view, diff=request.diff, is_filter=request.is_filter)
        return view.report.exit_code


def _show(request: Request) -> int:
    """Print the configuration or the files, and return the exit code."""
    from devfix.cli import _showing

    settings = _settings(request)
    if request.show_settings:
        return _showing.show_settings(_config_file(request), settings)
    if request.force_exclude:
        request = replace(request, paths=_without_excluded(request.paths, settings))
    files, problems, _ = _files(request, settings)
    code = _showing.show_files(files, problems)
    return 2 if _has_missing_path(request, problems) else code


def _run(request: Request, cache: Cache | None, told: Progress) -> tuple[View, bytes | None]:
    """Analyze and write files; return what is to be reported, and of standard input, the fixed text."""
    settings = _settings(request)
    if request.force_exclude:
        request = replace(request, paths=_without_excluded(request.paths, settings))
    tracing = None
    if request.proof is not None and request.proof.trace:
        from devfix.cli._trace_apply import TraceApply

        tracing = TraceApply(request.proof, request.paths, settings)
        request = replace(request, paths=tracing.paths)
    files, problems, raw = _files(request, settings)
    refuse_source_as_output(request.output_file, files)
    scope = None
    if request.since is not None or request.staged:
        from devfix.cli._changed import limit_to_changes

        files, problems, scope = limit_to_changes(request, settings, files, problems)
    analyze = fixpoint.check if request.mode is Mode.CHECK or request.add_ignore else fixpoint.apply
    outcome = analyze(files, settings, request.jobs, cache=cache, scope=scope, progress=told)
    proof, matrix = None, None
    if request.proof is not None:
        from devfix.cli._verifying import prove_outcome, prove_port

        def again(without: Sequence[Finding]) -> Outcome:
            return fixpoint.apply(files, settings, request.jobs, without=without, scope=scope, progress=told)

        if tracing is not None:
            outcome, proof = tracing.repair(outcome, again, told)
        elif request.proof.machines:
            outcome, matrix = prove_port(outcome, again, request.proof, told)
        else:
            outcome, proof = prove_outcome(outcome, again, request.paths, request.proof, told)
    outcome = _with_problems(outcome, problems)
    if request.lists_settings and scope is None:
        from devfix.cli.porting.releases import release_notes
        from devfix.cli.porting.settings import settings_notes

        noted = settings_notes(request.paths, files, settings, outcome)
        noted += release_notes(request.paths, settings, outcome)
        outcome = replace(outcome, notes=(*outcome.notes, *noted))
    if request.baseline is not None:
        from devfix.cli.porting.baseline import held_to_baseline

        outcome = held_to_baseline(outcome, [file.path for file in files], request.baseline, request.update_baseline)
    if request.add_ignore:
        outcome = _ignored(outcome, files, writes=request.mode is Mode.APPLY)
        return View(_report(request, outcome, problems), SourceTexts(outcome.patch, files), Outcome()), None
    preview = outcome
    if request.mode is Mode.CHECK and outcome.resolutions and FORMATS[request.output_format].suggestions:
        preview = fixpoint.apply(files, settings, request.jobs, cache=cache, scope=scope, progress=told)
    filtered = None
    if request.is_filter:
        filtered = outcome.patch.files[0].new if outcome.patch.files else raw
    elif request.mode is Mode.APPLY:
        outcome = write.land(outcome, whole=request.proof is not None)
    texts = SourceTexts(preview.patch, files)
    if request.mode is Mode.APPLY:
        outcome, files = relocated(outcome, files)
        preview, texts = Outcome(), SourceTexts(Patch(), files)  # remaining findings have no fix
    view = View(_report(request, outcome, problems), texts, preview, proof, request.paths, arguments(), matrix=matrix)
    if FORMATS[request.output_format].has_head:
        view = replace(view, about=about(view.root))
    return view, filtered


def _report(request: Request, outcome: Outcome, problems: Sequence[Problem]) -> Report:
    return Report(
        outcome,
        request.mode,
        has_missing_path=_has_missing_path(request, problems),
        exit_zero=request.exit_zero,
        exit_non_zero_on_fix=request.exit_non_zero_on_fix,
    )


def _ignored(outcome: Outcome, files: Sequence[SourceFile], *, writes: bool) -> Outcome:
    """Return the outcome with comments that suppress the findings in its patch, which is written on request."""
    pending = [each.finding for each in outcome.resolutions if each.status is not Status.SUPPRESSED]
    patch, left, problems = suppressions.add_comments(files, pending)
    written = Outcome(patch=patch, problems=problems)
    if writes:
        written = write.land(written)
    refused = {change.path for change in patch.files} - {change.path for change in written.patch.files}
    resolutions = tuple(
        each if each.finding in left or each.finding.path in refused else replace(each, status=Status.SUPPRESSED)
        for each in outcome.resolutions
    )
    return _with_problems(replace(outcome, resolutions=resolutions, patch=written.patch), written.problems)


def _without_excluded(paths: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    def is_excluded(path: str) -> bool:
        return os.path.isfile(path) and sources.excluded(path, settings.exclude, settings.root)

    return tuple(path for path in paths if not is_excluded(path))


def _configured_paths(request: Request) -> tuple[str, ...]:
    return (request.stdin_filename or os.curdir,) if request.is_stdin else request.paths


def _config_file(request: Request) -> str | None:
    return config.find(_configured_paths(request), request.config_file, request.isolated)


def _settings(request: Request) -> Settings:
    local = partial(import_trusted, trust=request.trust_plugins)
    settings = config.load(
        _configured_paths(request), known_rules(), request.config_file, request.isolated, local, request.inline_config
    )
    known = known_rules()
    return config.override(
        settings,
        known,
        select=request.select,
        extend_select=request.extend_select,
        ignore=request.ignore,
        exclude=request.exclude,
        severity=request.severity,
        unsafe_fixes=request.unsafe_fixes,
        targets=request.targets,
    )


def _files(request: Request, settings: Settings) -> tuple[tuple[SourceFile, ...], tuple[Problem, ...], bytes]:
    """Return files, problems, and the bytes of standard input (empty if paths are given)."""
    if not request.is_stdin:
        files, problems = sources.load(request.paths, settings.exclude, settings.root)
        return files, problems, b""
    raw = sys.stdin.buffer.read()
    try:
        return (sources.decode(request.stdin_filename or "stdin.py", raw),), (), raw
    except sources.SourceError as error:
        return (), (error.problem,), raw


def _has_missing_path(request: Request, problems: Sequence[Problem]) -> bool:
    """Return whether a problem is about a given path that does not exist; with ``--staged``, the index may have it."""
    return any(problem.path in request.paths and not os.path.lexists(problem.path) for problem in problems)


def _with_problems(outcome: Outcome, problems: tuple[Problem, ...]) -> Outcome:
    merged = sorted((*outcome.problems, *problems), key=lambda problem: (problem.path, problem.line))
    return replace(outcome, problems=tuple(merged))
