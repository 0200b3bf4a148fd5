"""Output of reports to standard output, standard error, or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from devfix.cli._color import is_for_people
from devfix.cli._errors import CommandError
from devfix.report.formats import FORMATS, render

if TYPE_CHECKING:
    from devfix.model import Patch
    from devfix.report.view import View
    from devfix.sources import SourceFile

__all__ = ["Output", "check_output", "print_diff", "refuse_source_as_output", "write_stdout"]


def check_output(name: str, file: str | None, statistics: bool) -> None:
    """Check before the analysis that the report can be written.

    Raises:
        CommandError: a required module is not installed, or the file cannot be written.
        click.UsageError: the format does not support statistics.

    """
    given = FORMATS[name]
    if given.requires is not None and find_spec(given.requires[0]) is None:
        module, extra = given.requires
        raise CommandError(f"--output-format {name} requires {module}: pip install 'devfix[{extra}]'")
    if statistics and not given.has_statistics:
        names = ", ".join(each for each, format_ in FORMATS.items() if format_.has_statistics)
        raise click.UsageError(f"--statistics is not supported with --output-format {name}; use {names}.")
    if file is not None:
        reason = _unwritable(file)
        if reason:
            raise CommandError(f"--output-file {file}: {reason}")


def _unwritable(file: str) -> str:
    """Return why a report cannot be written to a file; empty if it can."""
    target = os.path.realpath(file)
    folder = os.path.dirname(target)
    if not file:
        return "missing file name"
    if os.path.isdir(target):
        return "is a directory: name a file in it"
    if not os.path.isdir(folder):
        return f"directory {os.path.dirname(file) or folder} does not exist: create it first"
    if os.path.exists(target):
        if not os.access(target, os.W_OK):
            return "permission denied"
        if not os.path.isfile(target):
            return ""
    return "" if os.access(folder, os.W_OK | os.X_OK) else "permission denied in its directory"


def refuse_source_as_output(file: str | None, sources: Sequence[SourceFile]) -> None:
    """Raise :class:`CommandError` if the report would overwrite an analyzed file."""
    if file is not None and os.path.isfile(file):
        name = os.path.basename(os.path.realpath(file))
        for source in sources:
            if os.path.basename(os.path.realpath(source.path)) == name and os.path.samefile(source.path, file):
                raise CommandError(f"--output-file {file}: is one of the analyzed files; name another file")


@dataclass(frozen=True)
class Output:
    """Output options of a report.

    Attributes:
        name: the format, a key of :data:`FORMATS`.
        file: the file to write; None for none.
        statistics: whether to show counts per rule instead of findings.
        verbosity: number of ``-v`` minus number of ``-q``.

    """

    name: str
    file: str | None
    statistics: bool
    verbosity: int

    def show(self, view: View, *, diff: bool, is_filter: bool) -> None:
        """Print the diff if requested, then the report.

        The report goes to standard error if standard output has the diff or fixed source text; problems always do.
        """
        if diff:
            print_diff(view.report.outcome.patch)
        on_stderr = diff or is_filter
        is_data = not FORMATS[self.name].is_text and self.file is None
        if is_data:
            (_write_stderr if on_stderr else write_stdout)(self._data(view))
        else:
            self._print_text(view, on_stderr)
        if self.file is not None:
            self._write(view, self.file)
        is_told = is_data and (on_stderr or FORMATS[self.name].has_proof)
        if view.proof is not None and not is_told:
            from devfix.cli._verifying import show_proof

            show_proof(view.proof, self.verbosity, stderr=is_data or on_stderr)
        if view.matrix is not None and not is_told:
            from devfix.report.runs import matrix, verdict

            matrix.show(view.matrix, verdict.console(stderr=is_data or on_stderr))

    def _data(self, view: View) -> bytes:
        if FORMATS[self.name].is_text:
            return _plain_text(view, self.verbosity, self.statistics)
        if not self.statistics:
            return render(self.name, view).encode("utf-8", "backslashreplace")
        from devfix.report.findings import statistics

        lines = "".join(f"{line}\n" for line in statistics.lines(view))
        return (statistics.dumps(view) if self.name == "json" else lines).encode("utf-8", "backslashreplace")

    def _write(self, view: View, file: str) -> None:
        from devfix.sources import write_whole

        try:
            write_whole(Path(file), [self._data(view)])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise CommandError(f"--output-file {file}: {error.strerror or error}") from error

    def _print_text(self, view: View, stderr: bool) -> None:
        outcome = view.report.outcome
        if outcome.resolutions or outcome.problems or outcome.notes:
            from rich.console import Console

            from devfix.report.findings import text

            console, problems = (Console(stderr=each, highlight=False, soft_wrap=True) for each in (stderr, True))
            rows = _lines(view) if self.statistics else None
            text.show(view.report, self.verbosity, console, view.texts, rows, problems)
        elif self.verbosity >= 0:
            click.echo(view.report.summary(), err=stderr)


def _lines(view: View) -> list[str]:
    from devfix.report.findings import statistics

    return list(statistics.lines(view))


def _plain_text(view: View, verbosity: int, statistics: bool) -> bytes:
    """Return the text report without colours and line wrapping."""
    import io

    from rich.console import Console

    from devfix.report.findings import text
    from devfix.report.runs import verdict

    buffer = io.StringIO()
    console = Console(file=buffer, highlight=False, soft_wrap=True, color_system=None, force_terminal=False)
    text.show(view.report, verbosity, console, view.texts, _lines(view) if statistics else None)
    if view.proof is not None:
        buffer.write(verdict.sentence(view.proof) + "\n")
    if view.matrix is not None:
        from devfix.report.runs import matrix

        buffer.write(matrix.sentence(view.matrix) + "\n")
    return buffer.getvalue().encode("utf-8", "backslashreplace")


def print_diff(patch: Patch, created: Collection[str] = ()) -> None:
    """Print the diff for git; on a terminal, in colours and with notebooks cell by cell.

    Args:
        patch: the changes.
        created: paths of new files.

    """
    from devfix.report import terminal_diff
    from devfix.vcs import unified_diff

    unified = unified_diff.unified(patch, created)
    if not unified or not is_for_people():
        write_stdout(unified)
    elif os.environ.get("NO_COLOR"):
        write_stdout(terminal_diff.notebook_diff(patch) or unified)
    else:
        terminal_diff.print_coloured(terminal_diff.notebook_diff(patch) or unified)


def write_stdout(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.flush()


def _write_stderr(content: bytes) -> None:
    sys.stderr.buffer.write(content)
    sys.stderr.flush()
