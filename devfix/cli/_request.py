"""What one run of ``apply`` or ``check`` is asked to do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from devfix.cli._output import check_output
from devfix.model import Severity
from devfix.report import Mode

if TYPE_CHECKING:
    from devfix.cli._verifying import ProofRequest

__all__ = ["Request"]


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
    def is_filter(self) -> bool:
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


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
