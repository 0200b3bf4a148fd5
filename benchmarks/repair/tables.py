"""Results as Markdown tables, and the failures as one HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.repair.incidents import Incident
from benchmarks.repair.injected import OUTCOMES, Result
from benchmarks.repair.operators import OPERATORS
from benchmarks.repair.precision import Tree
from benchmarks.repair.statistics import Rate

__all__ = ["incident_table", "injected_table", "page", "precision_table"]

_BROKEN = ("repaired", "repaired-by-run", "repaired-unsafe", "reported", "missed", "wrong")


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def injected_table(results: Sequence[Result], by_running: bool = False) -> str:
    """Return one row per operator: planted, failing, fixed with its 95 % interval, and the other outcomes.

    With ``by_running`` also what was repaired by running it, the two together, and the medians of its runs on the
    accelerator and of its seconds.
    """
    repaired = ["repaired", *(["by running", "together", "runs", "seconds"] if by_running else ["unsafe"])]
    heads = ["operator", "the bug", "mutants", "failing", *repaired, "reported", "missed", "wrong", "harmless"]
    lines = [_row(*heads, "edited"), _row(*["---"] * (len(heads) + 1))]
    lines.extend(
        _injected_row(operator.name, operator.title, [r for r in results if r.operator == operator.name], by_running)
        for operator in OPERATORS
    )
    lines.append(_injected_row("**all**", "", results, by_running))
    mended = [result for result in results if result.outcome in ("repaired", "repaired-by-run")]
    exact, near, idempotent = (
        Rate(sum(getattr(result, name) for result in mended), len(mended))
        for name in ("exact", "same_line", "idempotent")
    )
    lines.append(
        f"\nOf the repaired, {exact} read as the program did before the bug was planted, {near} were edited at the "
        f"planted line or beside it, and {idempotent} stay as they are in a second run."
    )
    return "\n".join(lines)


def _injected_row(name: str, title: str, results: Sequence[Result], by_running: bool) -> str:
    count = Counter(result.outcome for result in results if result.killed)
    controls = Counter(result.outcome for result in results if not result.killed)
    failing = sum(count[outcome] for outcome in _BROKEN)
    wrong = count["wrong"] + controls["wrong"]
    repaired: list[object] = [Rate(count["repaired"], failing)]
    if by_running:
        traced = [result for result in results if result.outcome == "repaired-by-run"]
        medians = (
            (median(result.runs for result in traced), median(result.seconds for result in traced)) if traced else ()
        )
        together = Rate(count["repaired"] + len(traced), failing)
        repaired += [len(traced), together, *([f"{each:.3g}" for each in medians] or ["–", "–"])]
    else:
        repaired.append(count["repaired-unsafe"])
    rest = count["reported"], count["missed"], wrong, controls["harmless"], controls["harmless-edited"]
    return _row(name, title, len(results), failing, *repaired, *rest)


def precision_table(trees: Sequence[Tree]) -> str:
    """Return one row per tree, followed by every edit."""
    lines = [
        _row("tree", "files", "lines", "edits", "edits per 100,000 lines", "reported only", "crashes"),
        _row(*["---"] * 7),
    ]
    for tree in trees:
        made = sum(edit.made for edit in tree.edits)
        counts = made, f"{tree.rate:.2f}", len(tree.edits) - made, len(tree.problems)
        lines.append(_row(Path(tree.path).name, tree.files, tree.lines, *counts))
    for tree in trees:
        for edit in tree.edits:
            verb = "edited" if edit.made else "reported"
            lines.append(f"\n{verb}: {edit.path}:{edit.line} {edit.code} {edit.message}")
        lines.extend(f"\ncrash: {problem}" for problem in tree.problems)
    return "\n".join(lines)


def incident_table(incidents: Sequence[Incident]) -> str:
    """Return one row per class, with separate columns for S1 and S2."""
    lines = [
        _row(
            "class",
            "incidents",
            "repaired, S1",
            "repaired, S2 and beyond",
            "with --unsafe-fixes",
            "reported",
            "missed",
            "wrong",
        )
    ]
    lines.append(_row(*["---"] * 8))
    for kind in [*sorted({incident.kind for incident in incidents}), "**all**"]:
        chosen = [incident for incident in incidents if kind in (incident.kind, "**all**")]
        near = [incident for incident in chosen if incident.reach == "S1"]
        far = [incident for incident in chosen if incident.reach != "S1"]
        count = Counter(incident.outcome for incident in chosen)
        rates = [Rate(sum(i.outcome.startswith("repaired") for i in part), len(part)) for part in (near, far)]
        rest = count["repaired-unsafe"], count["reported"], count["missed"], count["wrong"]
        lines.append(_row(kind, len(chosen), *rates, *rest))
    return "\n".join(lines)


def page(results: Sequence[Result]) -> str:
    """Return a self-contained page of the mutants that are not fixed, with the planted bug and devfix's edits."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))
    order = ["wrong", "harmless-edited", "missed", "reported", "repaired-unsafe"]
    groups = [(word, OUTCOMES[word], [r for r in results if r.outcome == word]) for word in order]
    failing = sum(result.killed for result in results)
    repaired = Rate(sum(result.outcome in ("repaired", "repaired-by-run") for result in results), failing)
    return template.render(groups=groups, repaired=repaired, total=len(results), failing=failing)
