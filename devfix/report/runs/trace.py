"""The device error of a traced run as text, on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.report.runs.verdict import console
from devfix.report.sanitize import printable
from devfix.verify.result import describe_device

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from devfix.trace.repair.proposal import Proposal
    from devfix.trace.report_facts import ValueDescription
    from devfix.trace.tracing import Trace
    from devfix.verify.patches import Changes
    from devfix.verify.project import Project

__all__ = [
    "diff_text",
    "edit_text",
    "environment_text",
    "last_output_lines",
    "readable_diff",
    "rules_text",
    "show",
    "value_text",
]

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_SUMMARY_STYLES = {"device-error": "bold red", "no-device-error": "bold green", "unfinished": "bold yellow"}
_MAX_FRAMES = 4
_MAX_OUTPUT_LINES = 5


def show(trace: Trace, to: Console | None = None) -> None:
    """Print the trace."""
    to = to or console()
    for line in _lines(trace):
        to.print(line, soft_wrap=True)


def environment_text(trace: Trace) -> str:
    """Return device, torch version and interpreter."""
    experiment, run = trace.experiment, trace.run
    parts = [describe_device(experiment), f"torch {run.torch}" if run.torch else "", experiment.python]
    return ", ".join(part for part in parts if part)


def value_text(description: ValueDescription) -> str:
    """Return data type, shape and device: "float32 (16, 10) on the CPU"."""
    from devfix.trace.names import device_noun

    value = description.value
    return f"{value.dtype} {value.shape} on {device_noun(value.device)}"


def last_output_lines(trace: Trace) -> list[str]:
    """Return the last lines of output of an unfinished run, unless its exception says more."""
    run = trace.run
    if trace.status != "unfinished" or run.failure is not None:
        return []
    return run.output.rstrip().splitlines()[-_MAX_OUTPUT_LINES:]


def _lines(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    yield Text(f"on {environment_text(trace)}", style="dim")
    yield Text(printable(trace.summary), style=_SUMMARY_STYLES[trace.status])
    if trace.device_error is None:
        yield from _remarks(trace)
        yield from (Text(f"  {printable(line)}", style="dim") for line in last_output_lines(trace))
        return
    yield from _frames(trace)
    yield from _remarks(trace)
    for description in trace.values:
        yield Text()
        yield from _value(description)
    yield Text()
    yield from _cause(trace)
    yield from _edit(trace)


def _remarks(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    for remark in trace.remarks:
        yield Text(f"note: {printable(remark)}")


def _frames(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    if trace.failure is None:
        yield Text("  no code of the project was on the stack", style="dim")
        return
    if trace.failure.package is not None:
        package = trace.failure.package
        yield Text(f"  in {package}, {package.where}  {printable(package.position.code)}")
    for number, frame in enumerate(trace.failure.frames[:_MAX_FRAMES]):
        yield Text.assemble("  at " if number == 0 else "  by ", (str(frame), "bold"), f"  {printable(frame.code)}")


def _value(description: ValueDescription) -> Iterator[Text]:
    from rich.text import Text

    yield Text.assemble(
        ("✗ " if description.is_misplaced else "  ", "bold red"),
        (printable(description.name), "bold"),
        f"  {value_text(description)}",
        (f"  is misplaced{_also_misplaced(description)}" if description.is_misplaced else "", "red"),
    )
    for fact in description.facts:
        where = f"{fact.where}  " if fact.where else ""
        yield Text.assemble("    ", (f"{fact.kind:<9}", "cyan"), (where, "blue"), printable(fact.text))


def _also_misplaced(description: ValueDescription) -> str:
    names = ", ".join(map(printable, description.also_misplaced))
    return f", like {names}" if names else ""


def _cause(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    cause = trace.cause
    if cause is None:
        return
    yield Text.assemble(("cause ", "bold"), printable(cause.sentence))
    yield Text.assemble(("rule  ", "bold"), rules_text(trace))


def rules_text(trace: Trace) -> str:
    """Return the rule of the cause, and the rules of the static findings that the edit fixes, if they differ."""
    if trace.cause is None:
        return ""
    known = trace.proposal.rules if trace.proposal else ()
    if not known or trace.cause.rule in known:
        return rule_text(trace.cause.rule)
    return f"{rule_text(trace.cause.rule)}; static analysis: {', '.join(map(rule_text, known))}"


def rule_text(code: str) -> str:
    """Return a rule's code with its name."""
    from devfix.rules.registry import rule_for

    rule = rule_for(code)
    return f"{code} {rule.name}" if rule else f"{code}: no rule explains it"


def _edit(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    proposal = trace.proposal
    if proposal is None:
        return
    if not proposal.changes:
        hint = f": {proposal.command} searches for one" if proposal.command else ""
        yield Text.assemble(("edit  ", "bold"), printable(f"none, {proposal.title}{hint}"))
        return
    yield Text.assemble(("edit  ", "bold"), printable(edit_text(proposal)))
    yield from diff_text(trace.experiment.project, proposal.changes)


def edit_text(proposal: Proposal) -> str:
    """Return the description of an edit, and the command that applies it."""
    if proposal.certain:
        return f"{proposal.title}: {proposal.command}"
    return f"{proposal.title} (the script gets further with it; {proposal.command} proves it, or finds a better one)"


def readable_diff(project: Project, changes: Changes) -> Iterator[str]:
    """Yield the lines of a diff for terminals."""
    from devfix.report import terminal_diff

    for name in sorted(changes):
        path = project.root / name
        yield from terminal_diff.lines(name, path.read_bytes() if path.is_file() else b"", changes[name])


def diff_text(project: Project, changes: Changes) -> Iterator[Text]:
    """Yield the lines of a coloured diff."""
    from rich.text import Text

    for line in readable_diff(project, changes):
        bold = line.startswith(("--- ", "+++ "))
        yield Text(printable(line), style="bold" if bold else _STYLES.get(line[:1], ""))
