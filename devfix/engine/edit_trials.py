"""Trials: whether an edit holds.

An edit holds if the result compiles, its finding is gone, and nothing else fails, neither in the program nor in the
others that read the file.  What fails instead because it had been hidden by the failure is the next link of the same
bug: :mod:`devfix.engine.chains` repairs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from devfix.engine.outcome import DROPPED, Resolutions
from devfix.engine.programs import Programs
from devfix.engine.scan import Scan, identity
from devfix.engine.workspace import Workspace
from devfix.model import AddKeyword, AppendCode, Edit, Finding, Fix, ReplaceExpression
from devfix.sources import SourceError

__all__ = [
    "FAILS_INSTEAD",
    "NEW_FINDING",
    "Objection",
    "Trial",
    "fresh_findings",
    "joined",
    "objection_to_effect",
    "objection_to_fix",
    "repaired_along",
    "write_edits",
]

NEW_FINDING = "it would bring a new finding"
FAILS_INSTEAD = "would fail instead"
_MOST_FOLLOWING = 3  # new findings that are repaired together with an edit
_MOST_APART = 4  # findings that are tried in pairs


@dataclass(frozen=True)
class Objection:
    """Why an edit does not hold.

    Attributes:
        reason: for the report.
        remaining: the findings that are still there after it.
        fresh: the new findings.

    """

    reason: str
    remaining: tuple[Finding, ...] = ()
    fresh: tuple[Finding, ...] = ()


@dataclass
class Trial:
    """The edits that are tried for one program.

    Attributes:
        programs: all programs of the run.
        number: the program.
        collected: the resolutions of the run.
        others: scans of other programs after the edit that was tried last.

    """

    programs: Programs
    number: int
    collected: Resolutions
    others: dict[int, Scan] = field(default_factory=dict)

    def hold(self, before: Scan, fix: Fix, findings: Sequence[Finding], since: Scan | None = None) -> Scan | Objection:
        """Apply a fix for some findings; return the scan after it, or revert it and return the objection.

        With ``since``, the scan before the first link of a chain, new findings are no objection.
        """
        space = self.programs.space
        kept = dict(space.changed)
        after = self.applied(before, fix)
        if isinstance(after, str):
            space.changed = kept
            return Objection(after)
        objection = self._objection(before, since or before, after, fix, findings)
        if objection is None or (since is not None and objection.fresh):
            return after
        space.changed = kept
        return replace(objection, reason=f"{DROPPED}{objection.reason}")

    def accept(self, after: Scan) -> None:
        """Keep the scans of the edit that held last."""
        self.programs.keep({self.number: after, **self.others})

    def applied(self, before: Scan, fix: Fix) -> Scan | str:
        """Apply a fix; return the scan after it, or the reason why it cannot be applied.  Changes stay."""
        return write_edits(self.programs.space, fix) or self.programs.again(before)

    def _objection(
        self, before: Scan, since: Scan, after: Scan, fix: Fix, findings: Sequence[Finding]
    ) -> Objection | None:
        objection = objection_to_fix(self.collected, before, since, after, fix, findings)
        return self.objection_elsewhere() if objection is None else objection

    def objection_elsewhere(self) -> Objection | None:
        """Return what fails in other programs after the edit and did not before."""
        self.others = {}
        for number, after in self.programs.others(self.number):
            self.others[number] = after
            objection = objection_to_effect(self.programs.scan(number), after)
            if objection is not None:
                return objection
        return None

    # --- several edits at once --------------------------------------------------------------------------------
    def with_what_follows(self, before: Scan, fix: Fix) -> Fix | None:
        """Combine a fix with those of the findings that it causes: a moved value meets others on the CPU.

        Only edits that keep all other lines in place are combined, so that their positions refer to the same text.
        """
        space = self.programs.space
        kept = dict(space.changed)
        after = self.applied(before, fix)
        space.changed = kept
        if isinstance(after, str) or after.problems:
            return None
        fresh = fresh_findings(before, after)
        following = [self.collected.usable(other)[:1] for other in fresh]
        if not all(following) or len(fresh) > _MOST_FOLLOWING or any(map(self.collected.left_out, fresh)):
            return None
        edits: tuple[Edit, ...] = fix.edits
        for (other,) in following:
            first, second = ([list(_place_of(edit)) for edit in each] for each in (edits, other.edits))
            if not all((*first, *second)) or any(places in first for places in second):
                return None
            edits = (*edits, *other.edits)
        titles = dict.fromkeys(other.title for (other,) in following)
        return replace(fix, title=" and ".join([fix.title, *titles]), edits=edits)

    def together(self, before: Scan, apart: list[Finding]) -> tuple[list[tuple[Finding, Fix]], Scan] | None:
        """Try pairs of findings whose best edits only hold together, such as a criterion and its weights."""
        usable = [(finding, self.collected.usable(finding)) for finding in apart[:_MOST_APART]]
        for pair in combinations([(finding, fixes[0]) for finding, fixes in usable if fixes], 2):
            after = self.hold(before, joined(fix for _, fix in pair), [finding for finding, _ in pair])
            if isinstance(after, Scan):
                return list(pair), after
        return None


def write_edits(space: Workspace, fix: Fix) -> str:
    """Write the edits of a fix to the texts of a run; return the reason if they cannot be placed."""
    from devfix.rewrite import RewriteError, rewrite

    try:
        for path in fix.paths:
            text = space.text(path)
            assert text is not None
            edits = [edit for edit in fix.edits if edit.path == path]
            space.rewritten(path, rewrite(text, edits))
    except (RewriteError, SourceError) as error:
        told = error.problem.message if isinstance(error, SourceError) else error
        return f"the edit cannot be placed: {told}"
    return ""


def objection_to_fix(
    collected: Resolutions, before: Scan, since: Scan, after: Scan, fix: Fix, findings: Sequence[Finding]
) -> Objection | None:
    """Return why a fix does not hold in the program whose findings it is to repair.

    Args:
        collected: the resolutions of the run.
        before: the scan before the fix.
        since: the scan before the first link of a chain; that before the fix if there is none.
        after: the scan after it.
        fix: the fix, or several that are joined.
        findings: the findings that it is to repair.

    """
    if after.problems:
        return Objection(after.problems[0].message)
    left = {identity(other) for other in after.findings}
    remaining = tuple(finding for finding in findings if identity(finding) in left)
    if remaining:
        return Objection("the finding is still there after it", remaining)
    fresh = tuple(fresh_findings(since, after))
    if fresh:
        return Objection(f"{NEW_FINDING} ({fresh[0].code}: {fresh[0].message})", (), fresh)
    failure = _new_failure(since, after)
    if failure is not None:
        return failure
    if since.hazards == after.hazards and any(_tells_of_failure(before, finding) for finding in findings):
        return Objection("what fails would fail all the same")
    if any(collected.left_out(other) for other in repaired_along(before, after, fix)):
        return Objection("it would edit what is to be left alone")
    return None


def objection_to_effect(before: Scan, after: Scan) -> Objection | None:
    """Return what fails in another program after a fix and did not before."""
    if after.problems:
        return Objection(f"{after.path}: {after.problems[0].message}")
    fresh = tuple(fresh_findings(before, after))
    if fresh:
        return Objection(f"{NEW_FINDING} in {after.path} ({fresh[0].code}: {fresh[0].message})", (), fresh)
    return _new_failure(before, after)


def _new_failure(before: Scan, after: Scan) -> Objection | None:
    """Return the first line that fails after a fix and did not before."""
    worse = after.hazards.keys() - before.hazards.keys()
    if not worse:
        return None
    hazard = min(worse)
    return Objection(f"`{hazard.text}` ({hazard.consumer}) in {hazard.path} {FAILS_INSTEAD}")


def joined(fixes: Iterable[Fix]) -> Fix:
    """Return one fix with the edits of several."""
    first, *others = fixes
    return replace(first, edits=tuple(dict.fromkeys(edit for fix in (first, *others) for edit in fix.edits)))


def repaired_along(before: Scan, after: Scan, fix: Fix) -> list[Finding]:
    """Return findings that are gone because the fix of another finding made their edits as well."""
    left = {identity(finding) for finding in after.findings}
    gone = [finding for finding in before.findings if identity(finding) not in left and finding.fixes]
    return [finding for finding in gone if set(finding.fixes[0].edits) <= set(fix.edits)]


def fresh_findings(before: Scan, after: Scan) -> list[Finding]:
    """Return new findings; those that only report a failing line are counted as hazards."""
    known = Counter((other.code, other.path, other.message) for other in before.findings)
    known.subtract((other.code, other.path, other.message) for other in after.findings)
    fresh = [other for other in after.findings if known[(other.code, other.path, other.message)] < 0]
    return [other for other in fresh if not _is_fallback(other)]


def _tells_of_failure(scan: Scan, finding: Finding) -> bool:
    """Return whether a finding's event path leads to a line with a hazard."""
    lines = {(event.path, event.line) for event in finding.events if event.kind == "used"}
    return any((failure.path, failure.line) in lines for failure in scan.failures)


def _is_fallback(finding: Finding) -> bool:
    from devfix.rules.registry import rule_for

    rule = rule_for(finding.code)
    return rule is not None and rule.fallback


def _place_of(edit: Edit) -> Iterator[tuple[str, int]]:
    """Yield file and line of an edit that keeps all other lines in place."""
    match edit:
        case AppendCode(expression=span, code=code) | ReplaceExpression(expression=span, code=code):
            text = code
        case AddKeyword(call=span, value=value):
            text = value
        case _:
            return
    if "\n" not in text and span.line == span.end_line:
        yield edit.path, span.line
