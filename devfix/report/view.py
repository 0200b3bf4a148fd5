"""What a writer of a format is given: the report, and what has to be looked up for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from devfix import sources
from devfix.model import Finding, Outcome, Resolution
from devfix.report.positions import Texts
from devfix.report.summary import Report

if TYPE_CHECKING:
    from devfix.report.suggestions import Suggestions
    from devfix.verify.result import Proof

__all__ = ["View"]


@dataclass(frozen=True)
class View:
    """A report, and what belongs to it.

    Attributes:
        report: what was found.
        texts: the files as findings count their lines.
        tried: what ``apply`` would come to: its patch and findings are where fixes are taken from.
        proof: what runs prove of the patch; None where nothing was run.

    """

    report: Report
    texts: Texts
    tried: Outcome
    proof: Proof | None = None
    _names: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def listed(self) -> tuple[Resolution, ...]:
        """Findings that are still there, or would be: neither suppressed, nor repaired on the disk."""
        return self.report.listed

    @cached_property
    def suggestions(self) -> Suggestions:
        """What repairs each finding."""
        from devfix.report.suggestions import suggestions_of

        return suggestions_of(self.tried, self.texts)

    @cached_property
    def root(self) -> str:
        """The folder that names are relative to: the repository."""
        outcome = self.report.outcome
        paths = {item.finding.path for item in outcome.resolutions}
        return sources.diff_root(sorted({*paths, *(problem.path for problem in outcome.problems)}))

    def name(self, path: str) -> str:
        """A path relative to the repository, with forward slashes."""
        if path not in self._names:
            self._names[path] = sources.display(path, self.root)
        return self._names[path]

    def worst_first(self) -> list[Resolution]:
        """What is listed, the most severe first, else by place."""
        return sorted(self.listed, key=lambda item: item.finding.severity.rank)

    def sentence(self, finding: Finding) -> str:
        """The message, and where it comes to the failure: one sentence for those who show no path of events."""
        last = finding.events[-1] if finding.events else None
        if last is None or (last.path, last.line) == (finding.path, finding.span.line):
            return finding.message
        return f"{finding.message}; fails at {self.name(last.path)}:{last.line}"
