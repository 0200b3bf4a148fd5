"""What the tools return: small, bounded, the same from call to call.

A text from analysed code is data: it is quoted, without control characters, and cut at a length that it names.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from devfix.report.agent.lines import cut

__all__ = [
    "Applied",
    "Cause",
    "Checked",
    "Diagnosed",
    "Finding",
    "MachineRun",
    "PageOfText",
    "Run",
    "Verified",
    "page_of",
]

#: Findings or causes in one answer.
MOST_ITEMS = 20
#: Characters of a diff or page in one answer.
MOST_TEXT = 6_000


class Finding(BaseModel):
    """A device bug."""

    place: str = Field(description="file:line:column")
    code: str
    severity: str
    message: str
    fix: str | None = Field(description="what the edit does; null if there is none")
    safe: bool = Field(description="whether apply makes the edit without unsafe=true")
    reason: str | None = Field(description="why there is no edit")

    @classmethod
    def of(cls, item: dict[str, Any]) -> Finding:
        """Return a finding of a JSON report."""
        fix, span = item["fix"], item["span"]
        return cls(
            place=cut(f"{item['path']}:{span['line']}:{span['column']}"),
            code=item["code"],
            severity=item["severity"],
            message=cut(item["message"]),
            fix=None if fix is None else cut(fix["title"]),
            safe=fix is not None and fix["applicability"] == "safe",
            reason=None if item["reason"] is None else cut(item["reason"]),
        )


class PageOfText(BaseModel):
    """A part of a long text."""

    text: str
    next_cursor: int | None = Field(description="cursor of the next part; null at the end")

    @classmethod
    def of(cls, text: str, cursor: int) -> PageOfText:
        """Return the part that begins at a position."""
        end = cursor + MOST_TEXT
        if end < len(text):
            end = text.rfind("\n", cursor, end) + 1 or end  # whole lines, if there is an end of one
        return cls(text=text[cursor:end], next_cursor=end if end < len(text) else None)


class Checked(BaseModel):
    """The findings in files and folders."""

    findings: list[Finding]
    total: int
    next_cursor: int | None = Field(description="cursor of the next findings; null at the end")
    checked_files: int
    problems: list[str] = Field(description="files that could not be analysed")
    next: str = Field(description="the next step")


class Applied(BaseModel):
    """The edits of files and folders."""

    written: bool
    fixed: list[Finding]
    remaining: list[Finding]
    more: int = Field(description="findings that are not listed")
    diff: PageOfText
    problems: list[str]
    next: str


class Cause(BaseModel):
    """A possible cause of a device error."""

    place: str = Field(description="file:line")
    code: str
    message: str
    fix: str | None = Field(description="what the edit does; null if there is none")


class Diagnosed(BaseModel):
    """The cause of a device error."""

    found: bool = Field(description="whether there is a device error")
    error: str
    meaning: str
    frames: list[str] = Field(description="lines of the program in the traceback, the deepest first")
    causes: list[Cause] = Field(description="the likeliest first; empty if the program shows none")
    diff: PageOfText = Field(description="the edit of the first cause; apply makes it")
    usual_causes: list[str]
    next: str


class Run(BaseModel):
    """One run of a script."""

    name: str
    outcome: str
    steps: int | None
    first_loss: float | None
    last_loss: float | None
    largest_difference: float | None
    failure: str | None


class MachineRun(BaseModel):
    """A machine, before and after the patch."""

    machine: str
    simulated: bool
    before: str | None = Field(description="how the original ended; null if the patch changes nothing")
    after: str
    compared: str = Field(description="losses of the patched script, compared with the reference")
    good: bool


class Verified(BaseModel):
    """The verdict on a patch."""

    verdict: str = Field(description="fixed and no-error are good; of several machines, portable")
    proved: bool
    reason: str
    device: str
    runs: list[Run]
    machines: list[MachineRun] = Field(description="one for each of the machines that were named")
    differences: list[str] = Field(description="output that differs from the reference")
    next: str


def page_of(items: list[dict[str, Any]], cursor: int) -> tuple[list[Finding], int | None]:
    """Return the findings from a position on, and the next position."""
    end = cursor + MOST_ITEMS
    return [Finding.of(item) for item in items[cursor:end]], end if end < len(items) else None
