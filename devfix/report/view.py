"""Input of the report formats: a report with its source files and fixes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from devfix import sources
from devfix.model import Finding, Outcome, Resolution
from devfix.report.head import UNKNOWN, About
from devfix.report.positions import SourceTexts
from devfix.report.summary import Report

if TYPE_CHECKING:
    from devfix.report.suggestions import Suggestions
    from devfix.verify.matrix import Matrix
    from devfix.verify.result import Proof

__all__ = ["View"]


@dataclass(frozen=True)
class View:
    """A report with the data that formats look up.

    Attributes:
        report: the findings and problems.
        texts: the source files.
        preview: the outcome of ``apply``; suggestions come from its patch.
        proof: the verdict on the patch and its runs; None if nothing was run.
        paths: the files and folders that were named.
        arguments: the command line, without the program's name; empty if it is not known.
        about: the command behind the report, for pages.
        matrix: the runs on several machines; None if nothing was run.

    """

    report: Report
    texts: SourceTexts
    preview: Outcome
    proof: Proof | None = None
    paths: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    about: About = UNKNOWN
    matrix: Matrix | None = None
    _names: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def listed(self) -> tuple[Resolution, ...]:
        """Findings in the files on disk, without suppressed ones."""
        return self.report.listed

    @cached_property
    def suggestions(self) -> Suggestions:
        """The fixes of the findings, as replacements."""
        from devfix.report.suggestions import suggestions_of

        return suggestions_of(self.preview, self.texts)

    @cached_property
    def root(self) -> str:
        """The root of the repository, which names are relative to."""
        outcome = self.report.outcome
        paths = {item.finding.path for item in outcome.resolutions}
        return sources.diff_root(sorted({*paths, *(problem.path for problem in outcome.problems)}))

    def name(self, path: str) -> str:
        """Return a path relative to the repository, with forward slashes."""
        if path not in self._names:
            self._names[path] = sources.display(path, self.root)
        return self._names[path]

    def by_severity(self) -> list[Resolution]:
        """Return the listed findings, the most severe first, in source order within a severity."""
        return sorted(self.listed, key=lambda item: item.finding.severity.rank)

    def message_with_failure(self, finding: Finding) -> str:
        """Return the message and the position of the failing line, for formats without an event path."""
        failure = finding.failure
        if failure is None or (failure.path, failure.line) == (finding.path, finding.span.line):
            return finding.message
        return f"{finding.message}; fails at {self.name(failure.path)}:{failure.line}"
