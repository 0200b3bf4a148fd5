"""Real incidents, rebuilt as small programs of our own (corpus/incidents, corpus/seeds): the share repaired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.repair.injected import apply_to, run_program, trains_alike
from benchmarks.repair.programs import Program

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib  # type: ignore[no-redef]

__all__ = ["Incident", "examine"]


@dataclass(frozen=True)
class Incident:
    """One rebuilt incident: its class (A to N), how far one has to read (S1: one file, S2: more), and the outcome."""

    name: str
    link: str
    kind: str
    reach: str
    outcome: str
    told: tuple[str, ...] = ()


def examine(corpus: Path) -> Iterator[Incident]:
    """Every case with an ``incident`` table in its case.toml.

    ``repaired``: the repaired program runs on the simulated accelerator and trains as its author's repair does;
    ``reported``: a finding, no edit; ``missed``: nothing; ``wrong``: an edit that does not hold.
    """
    for path in sorted(corpus.rglob("case.toml")):
        meta = tomllib.loads(path.read_text(encoding="utf-8"))
        if "incident" in meta:
            yield _examine(path.parent, path.parent.relative_to(corpus).as_posix(), meta)


def _examine(case: Path, name: str, meta: dict[str, Any]) -> Incident:
    broken = _program(case, "broken", meta)
    repaired, told = apply_to(broken, broken.files, unsafe=False)
    outcome = "reported" if told else "missed"
    if repaired == broken.files:
        repaired, _ = apply_to(broken, broken.files, unsafe=True)
        outcome = "repaired-unsafe" if _holds(case, meta, broken, repaired) else outcome
    else:
        outcome = "repaired" if _holds(case, meta, broken, repaired) else "wrong"
    about = meta["incident"]
    return Incident(name, meta["link"], about["class"], about["reach"], outcome, tuple(told))


def _program(case: Path, tree: str, meta: dict[str, Any]) -> Program:
    setup = tuple(meta["setup"]) if "setup" in meta else None
    start = meta["script"], tuple(meta["args"]), setup, meta.get("setup_script"), meta.get("run_on", "sim")
    return Program(case.name, case / tree, *start)


def _holds(case: Path, meta: dict[str, Any], broken: Program, repaired: dict[str, str]) -> bool:
    if repaired == broken.files or meta["kind"] != "broken":
        return False
    expected = run_program(_program(case, "fixed", meta), {}, "sim")
    return trains_alike(run_program(broken, repaired, "sim"), expected)
