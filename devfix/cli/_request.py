"""Validated options of ``apply`` and ``check``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from devfix.cli._errors import CommandError
from devfix.cli._output import check_output
from devfix.model import PortTargets, Severity
from devfix.report import Mode

if TYPE_CHECKING:
    from devfix.cli._verifying import ProofRequest

__all__ = ["Request"]


_STDIN = "-"
_MAX_JOBS = 60  # Windows can wait for at most 63 handles


@dataclass(frozen=True)
class Request:
    """The options of one run of ``apply`` or ``check``."""

    mode: Mode
    paths: tuple[str, ...]
    diff: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    exclude: tuple[str, ...]
    severity: Severity | None
    unsafe_fixes: bool
    stdin_filename: str | None
    output_format: str
    output_file: str | None
    statistics: bool
    jobs: int
    verbosity: int
    config_file: str | None
    inline_config: tuple[str, ...]
    isolated: bool
    no_cache: bool
    trust_plugins: bool = False
    since: str | None = None
    force_exclude: bool = False
    staged: bool = False
    watch: bool = False
    show_files: bool = False
    show_settings: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    add_ignore: bool = False
    proof: ProofRequest | None = None
    targets: PortTargets | None = None
    baseline: str | None = None
    update_baseline: bool = False
    lists_settings: bool = False

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
        config: tuple[str, ...],
        diff: bool = False,
        unsafe_fixes: bool = False,
        **options: Any,
    ) -> Request:
        """Return a request for the values of click's options.

        Raises:
            click.UsageError: options contradict each other.
            CommandError: the report cannot be written.

        """
        paths = paths or (os.curdir,)
        if _STDIN in paths and len(paths) > 1:
            raise click.UsageError("'-' cannot be combined with other paths.")
        if options["stdin_filename"] is not None and _STDIN not in paths:
            raise click.UsageError("--stdin-filename requires the path '-'.")
        config_file, inline_config = _config(config)
        if options["isolated"] and config_file is not None:
            raise click.UsageError("--isolated and --config are mutually exclusive.")
        if options.get("proof") is not None and _STDIN in paths:
            flag = "--trace" if options["proof"].trace else "--verify"
            raise click.UsageError(f"{flag} cannot run standard input: replace '-' by the script's path.")
        shows = next((name for name in ("show_files", "show_settings", "add_ignore") if options.get(name)), "")
        if shows and options["watch"]:
            raise click.UsageError(f"--watch cannot be combined with --{shows.replace('_', '-')}.")
        if options.get("add_ignore") and options.get("proof") is not None:
            flag = "--trace" if options["proof"].trace else "--verify"
            raise click.UsageError(f"--add-ignore cannot be combined with {flag}, which proves fixes.")
        if options.get("add_ignore") and _STDIN in paths:
            raise click.UsageError("--add-ignore cannot be used with standard input: replace '-' by paths.")
        if options["watch"]:
            _check_watch(paths, options.get("proof"), options["staged"])
        if options["since"] is not None or options["staged"]:
            _check_changed(paths, options["since"], options["staged"], options.get("proof"))
        check_output(options["output_format"], options["output_file"], options["statistics"])
        return cls(
            mode=mode,
            paths=paths,
            diff=diff,
            severity=Severity(severity) if severity else None,
            unsafe_fixes=unsafe_fixes,
            jobs=min(jobs or _cores(), _MAX_JOBS),
            verbosity=verbose - quiet,
            config_file=config_file,
            inline_config=inline_config,
            **options,
        )

    @property
    def is_stdin(self) -> bool:
        """Whether the source is standard input."""
        return self.paths == (_STDIN,)

    @property
    def is_filter(self) -> bool:
        """Whether standard output is the fixed text of standard input."""
        return self.is_stdin and self.mode is Mode.APPLY


def _config(given: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """Return the configuration file, if one is given, and the keys on the command line."""
    files = [each for each in given if "=" not in each or os.path.lexists(each)]
    if len(files) > 1:
        raise click.UsageError(f"--config names two files, {files[0]} and {files[1]}; the key extend combines files.")
    return next(iter(files), None), tuple(each for each in given if each not in files)


def _check_changed(paths: tuple[str, ...], since: str | None, staged: bool, proof: ProofRequest | None) -> None:
    flag = "--staged" if staged else "--since"
    if since is not None and staged:
        raise click.UsageError("--since and --staged are mutually exclusive.")
    if _STDIN in paths:
        raise click.UsageError(f"{flag} cannot be used with standard input: replace '-' by paths.")
    if proof is not None and (staged or proof.trace):
        runs = "--trace" if proof.trace else "--verify"
        raise click.UsageError(f"{flag} cannot be combined with {runs}, which runs the files of the working tree.")


def _check_watch(paths: tuple[str, ...], proof: ProofRequest | None, staged: bool) -> None:
    if _STDIN in paths:
        raise click.UsageError("--watch cannot be used with standard input: replace '-' by paths.")
    if proof is not None or staged:
        flag = "--staged" if staged else "--trace" if proof is not None and proof.trace else "--verify"
        raise click.UsageError(f"--watch cannot be combined with {flag}.")
    if find_spec("watchfiles") is None:
        raise CommandError("--watch requires watchfiles: pip install 'devfix[watch]'")


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
