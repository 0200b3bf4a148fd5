"""What a run showed of a device error, for a person in a hurry: one screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devfix.report.runs.verdict import console
from devfix.report.sanitize import printable
from devfix.verify.result import device_in_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from devfix.trace.repair.proposal import Proposal
    from devfix.trace.report_facts import Told
    from devfix.trace.tracing import Trace
    from devfix.verify.patches import Changes
    from devfix.verify.project import Project

__all__ = ["described", "diff_text", "edit_words", "last_words", "readable_lines", "rules_told", "show", "where_run"]

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_MOST_FRAMES = 4
_MOST_WORDS = 5


def show(trace: Trace, to: Console | None = None) -> None:
    """Print it."""
    to = to or console()
    for line in _lines(trace):
        to.print(line, soft_wrap=True)


def where_run(trace: Trace) -> str:
    """On what, and with what."""
    experiment, run = trace.experiment, trace.run
    parts = [device_in_words(experiment), f"torch {run.torch}" if run.torch else "", experiment.python]
    return ", ".join(part for part in parts if part)


def described(told: Told) -> str:
    """Shape, type and device: "float32 (16, 10) on the CPU"."""
    from devfix.trace.names import place

    value = told.value
    return f"{value.dtype} {value.shape} on {place(value.device)}"


def last_words(trace: Trace) -> list[str]:
    """The last lines of output of a run that ended neither well nor with an exception."""
    run = trace.run
    return [] if run.ok or run.failure is not None else run.output.rstrip().splitlines()[-_MOST_WORDS:]


def _lines(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    yield Text(f"on {where_run(trace)}", style="dim")
    style = "bold red" if trace.run.device_error else "bold green" if trace.run.ok else "bold yellow"
    yield Text(printable(trace.summary), style=style)
    if not trace.run.device_error:
        yield from (Text(f"  {printable(line)}", style="dim") for line in last_words(trace))
        return
    yield from _frames(trace)
    for told in trace.values:
        yield Text()
        yield from _value(told)
    yield Text()
    yield from _cause(trace)
    yield from _edit(trace)


def _frames(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    if trace.story is None:
        yield Text("  no code of the project was on the stack", style="dim")
        return
    if trace.story.package is not None:
        package = trace.story.package
        yield Text(f"  in {package}, {package.where}  {printable(package.position.code)}")
    for number, frame in enumerate(trace.story.frames[:_MOST_FRAMES]):
        yield Text.assemble("  at " if number == 0 else "  by ", (str(frame), "bold"), f"  {printable(frame.code)}")


def _value(told: Told) -> Iterator[Text]:
    from rich.text import Text

    yield Text.assemble(
        ("✗ " if told.culprit else "  ", "bold red"),
        (printable(told.name), "bold"),
        f"  {described(told)}",
        (f"  is out of place{_along(told)}" if told.culprit else "", "red"),
    )
    for fact in told.facts:
        where = f"{fact.where}  " if fact.where else ""
        yield Text.assemble("    ", (f"{fact.kind:<9}", "cyan"), (where, "blue"), printable(fact.text))


def _along(told: Told) -> str:
    return f", as {', '.join(map(printable, told.with_it))}" if told.with_it else ""


def _cause(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    cause = trace.cause
    if cause is None:
        return
    yield Text.assemble(("cause ", "bold"), printable(cause.sentence))
    yield Text.assemble(("rule  ", "bold"), rules_told(trace))


def rules_told(trace: Trace) -> str:
    """The rule of the cause; where reading repairs it as a case of others, these as well."""
    if trace.cause is None:
        return ""
    known = trace.proposal.rules if trace.proposal else ()
    if not known or trace.cause.rule in known:
        return rule_words(trace.cause.rule)
    return f"{rule_words(trace.cause.rule)}; read as {', '.join(map(rule_words, known))}"


def rule_words(code: str) -> str:
    """A rule's code with its name."""
    from devfix.rules.registry import rule_for

    rule = rule_for(code)
    return f"{code} {rule.name}" if rule else f"{code}: no rule describes it"


def _edit(trace: Trace) -> Iterator[Text]:
    from rich.text import Text

    proposal = trace.proposal
    if proposal is None:
        return
    if not proposal.changes:
        hint = f": {proposal.command} searches for one" if proposal.command else ""
        yield Text.assemble(("edit  ", "bold"), printable(f"none, {proposal.title}{hint}"))
        return
    yield Text.assemble(("edit  ", "bold"), printable(edit_words(proposal)))
    yield from diff_text(trace.experiment.project, proposal.changes)


def edit_words(proposal: Proposal) -> str:
    """What an edit does, and what applies it."""
    if proposal.certain:
        return f"{proposal.title}: {proposal.command}"
    return f"{proposal.title} (it gets further with that; {proposal.command} proves it, or finds a better one)"


def readable_lines(project: Project, changes: Changes) -> Iterator[str]:
    """The changes as lines of a diff for people."""
    from devfix.report import terminal_diff

    for name in sorted(changes):
        path = project.root / name
        yield from terminal_diff.lines(name, path.read_bytes() if path.is_file() else b"", changes[name])


def diff_text(project: Project, changes: Changes) -> Iterator[Text]:
    """A diff in colours."""
    from rich.text import Text

    for line in readable_lines(project, changes):
        bold = line.startswith(("--- ", "+++ "))
        yield Text(printable(line), style="bold" if bold else _STYLES.get(line[:1], ""))
