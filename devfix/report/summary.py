"""Counts of a run, its summary line, and its exit code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from devfix.model import Outcome, Resolution, Status

__all__ = ["Mode", "Report"]


class Mode(str, Enum):
    """The kind of run."""

    CHECK = "check"  # findings only
    PREVIEW = "preview"  # changes are computed, not written (``apply --diff``, ``apply --check``)
    APPLY = "apply"


@dataclass(frozen=True)
class Report:
    """The outcome of one run by status, its summary, and its exit code.

    Attributes:
        outcome: the findings and problems.
        mode: the kind of run.
        has_missing_path: whether a path on the command line does not exist.
        exit_zero: whether findings and pending changes leave the exit code at 0.
        exit_non_zero_on_fix: whether a changed file makes it 1.

    """

    outcome: Outcome
    mode: Mode
    has_missing_path: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False

    @cached_property
    def fixed(self) -> tuple[Resolution, ...]:
        """Findings that the patch fixes."""
        return self._with(Status.FIXED)

    @cached_property
    def remaining(self) -> tuple[Resolution, ...]:
        """Findings that the patch does not fix."""
        return self._with(Status.FIXABLE, Status.NOT_FIXED)

    @cached_property
    def suppressed(self) -> tuple[Resolution, ...]:
        """Findings that a comment in the source suppresses."""
        return self._with(Status.SUPPRESSED)

    @cached_property
    def listed(self) -> tuple[Resolution, ...]:
        """Findings in the files on disk, without suppressed ones."""
        pending = self.fixed if self.mode is not Mode.APPLY else ()
        return self.remaining if not pending else self._with(Status.FIXED, Status.FIXABLE, Status.NOT_FIXED)

    @property
    def exit_code(self) -> int:
        """0 if nothing is left to do; 1 if findings remain, files would change, or a file could not be processed.

        2 if a path on the command line does not exist; the others are processed.
        """
        if self.has_missing_path:
            return 2
        would_change = self.mode is Mode.PREVIEW and bool(self.outcome.patch.files)
        unfixed = self.mode is not Mode.APPLY and bool(self.fixed)
        left = not self.exit_zero and (would_change or unfixed or bool(self.remaining))
        changed = self.exit_non_zero_on_fix and self.mode is Mode.APPLY and bool(self.outcome.patch.files)
        return int(left or changed or bool(self.outcome.problems))

    def summary(self) -> str:
        """Return one line with the number of findings by status, and of files and problems."""
        found = len(self.fixed) + len(self.remaining)
        parts = [_count(found, "finding") if found else "no findings"]
        fixed_label = "fixed" if self.mode is Mode.APPLY else "would be fixed"
        fixable = sum(resolution.status is Status.FIXABLE for resolution in self.remaining)
        for number, label in (
            (len(self.fixed), fixed_label),
            (
                fixable,
                "possibly fixable with devfix apply"
                if self.mode is Mode.CHECK
                else "possibly fixable with --unsafe-fixes",
            ),
            (len(self.remaining) - fixable, "not fixed" if self.mode is Mode.APPLY else "without a fix"),
            (len(self.suppressed), "suppressed"),
        ):
            if number:
                parts.append(f"{number} {label}")
        parts.append(f"{_count(self.outcome.checked, 'file')} checked")
        if changed := len(self.outcome.patch.files):
            parts.append(f"{changed} {'changed' if self.mode is Mode.APPLY else 'would change'}")
        if self.outcome.problems:
            parts.append(_count(len(self.outcome.problems), "problem"))
        if hidden := self.outcome.hidden:
            parts.append(f"{_count(hidden, 'latent finding')} hidden (shown with --severity latent)")
        return ", ".join(parts)

    def _with(self, *statuses: Status) -> tuple[Resolution, ...]:
        return tuple(resolution for resolution in self.outcome.resolutions if resolution.status in statuses)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
