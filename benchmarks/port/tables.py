"""The table of the pairs, for the terminal and for docs/development/accuracy.md."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from benchmarks.port.catalogue import Pair
from benchmarks.port.trial import Trial

__all__ = ["SECTIONS", "markdown", "totals"]

#: The sections of the page, by the name of the set of programs.
SECTIONS = {
    "developed": "port",
    "held-out": "port held out",
    "second": "port second",
    "third": "port third",
    "fourth": "port fourth",
    "fifth": "port fifth",
    "sixth": "port sixth",
    "seventh": "port seventh",
    "eighth": "port eighth",
    "all": "port",
}
_COMMAND = "python -m benchmarks.port --table docs/development/accuracy.md"


def totals(results: Sequence[tuple[Pair, Trial]]) -> str:
    """Return the summary: programs ported and proved, and places left."""
    valid = [(pair, trial) for pair, trial in results if trial.is_valid]
    proved = sum(trial.is_proved for _, trial in valid)
    on_cpu = sum(trial.runs_on_cpu for _, trial in valid)
    paired = [trial for pair, trial in valid if pair.after]
    trials = [trial for _, trial in valid]
    theirs = sum(trial.runs["maintainers"].get("cpu", "").startswith("ok") for trial in paired)
    theirs_do = f"; of the {len(paired)} with a commit of the maintainers, {theirs} do after it" if paired else ""
    proof = f"{proved} of {len(valid)} programs are ported and proved{_share(proved, len(valid))}"
    before, ours, maintainers = (_sum(paired, side) for side in ("before", "devfix", "maintainers"))
    lines = [
        f"{proof}: they run without CUDA, and compute the same as before on simulated CUDA.",
        f"{on_cpu} run without CUDA{theirs_do}.",
        f"Places: {_sum(trials, 'before')} before, {_sum(trials, 'devfix')} after devfix.",
    ]
    if paired:
        lines.append(
            f"In the {len(paired)} pairs: {before} before, {ours} after devfix, {maintainers} after the maintainers."
        )
    for kind in ("mps", "xpu"):
        runs = [trial.runs["devfix"][kind] for _, trial in valid if kind in trial.runs["devfix"]]
        if runs:
            lines.append(
                f"On simulated {kind.upper()}, {sum(each.startswith('ok') for each in runs)} of {len(runs)} run, "
                f"{sum(each == 'ok' for each in runs)} of them on the accelerator."
            )
    invalid = [trial.pair for _, trial in results if not trial.is_valid]
    if invalid:
        lines.append(
            f"Not counted, because the original does not run on CUDA or runs without it: {', '.join(invalid)}."
        )
    return "\n".join(lines)


def markdown(
    results: Sequence[tuple[Pair, Trial]], torch_version: str, options: Sequence[str], chosen_set: str = "developed"
) -> str:
    """Return the section: summary, a row for each pair, and the reasons of those that are not proved."""
    command = _COMMAND if chosen_set == "developed" else _COMMAND.replace("port ", f"port --set {chosen_set} ", 1)
    valid = [(pair, trial) for pair, trial in results if trial.is_valid]
    chosen = f" The ports were made by `devfix port {' '.join(options)}`." if options else ""
    lines = [
        f"Made by `{command}`, torch {torch_version}, Python {platform.python_version()}.{chosen}",
        "",
        *totals(results).split("\n"),
        "Places and runs on the CPU are those before, after devfix, and after the maintainers' change.",
        "",
        "| program | before | after | places | on the CPU | CUDA | MPS | XPU | proved |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_row(pair, trial) for pair, trial in valid),
    ]
    off = [(pair, trial) for pair, trial in valid if not trial.is_proved]
    if off:
        lines += ["", "| not proved | reason |", "|---|---|"]
        lines += [_line(pair.name, _reason(trial)) for pair, trial in off]
    return "\n".join(lines)


def _reason(trial: Trial) -> str:
    ported = trial.runs["devfix"]
    if not trial.runs_on_cpu:
        return f"without CUDA: {ported['cpu']}"
    return f"{trial.status}: {trial.reason}"


def _row(pair: Pair, trial: Trial) -> str:
    counted = [trial.places["before"], trial.places["devfix"], trial.places["maintainers"]]
    sides = [trial.runs[side]["cpu"] for side in ("before", "devfix", "maintainers") if side in trial.runs]
    ported = trial.runs["devfix"]
    return _line(
        f"{pair.name}: {pair.style} ({pair.repository})",
        pair.before[:9],
        pair.after[:9] or "–",
        ", ".join("–" if each is None else str(each) for each in counted),
        ", ".join(_mark(each) for each in sides) + ("" if pair.after else ", –"),
        _mark(ported["cuda"]),
        _mark(ported.get("mps", "")),
        _mark(ported.get("xpu", "")),
        _proof(trial),
    )


def _proof(trial: Trial) -> str:
    if not trial.is_proved:
        return "no"
    return f"yes: {trial.losses} losses" if trial.losses else "yes: outputs"


def _mark(ending: str) -> str:
    if ending == "ok, on the CPU":
        return "on the CPU"
    return "runs" if ending == "ok" else "fails" if ending else "–"


def _share(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.0f} %)" if whole else ""


def _sum(trials: Sequence[Trial], side: str) -> int:
    return sum(trial.places[side] or 0 for trial in trials)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').split(chr(10))[0] for cell in cells)} |"
