"""Fix rate of real incidents, rebuilt as small programs (corpus/incidents, corpus/seeds)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.repair.injected import apply_to, diff, run_program, trains_alike
from benchmarks.repair.programs import Program

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Incident", "examine"]


@dataclass(frozen=True)
class Incident:
    """One rebuilt incident: its class (A to N), its reach (S1: one file, S2: several files), and the outcome."""

    name: str
    link: str
    kind: str
    reach: str
    outcome: str
    told: tuple[str, ...] = ()
    patch: str = ""
    after: str = ""  # how the program ended that was edited in vain


def examine(corpus: Path, words: Sequence[str] = ()) -> Iterator[Incident]:
    """Every case with an ``incident`` table in its case.toml; with words, those whose path contains one of them.

    ``repaired``: the repaired program runs on the simulated accelerator and trains as its author's repair does;
    ``reported``: a finding, no edit; ``missed``: nothing; ``wrong``: an edit that does not hold.
    """
    for path in sorted(corpus.rglob("case.toml")):
        meta = tomllib.loads(path.read_text(encoding="utf-8"))
        name = path.parent.relative_to(corpus).as_posix()
        if "incident" in meta and (not words or any(word in name for word in words)):
            yield _examine(path.parent, name, meta)


def _examine(case: Path, name: str, meta: dict[str, Any]) -> Incident:
    broken = _program(case, "broken", meta)
    repaired, told = apply_to(broken, broken.files, unsafe=False)
    patch = "".join(diff(text, repaired[path], path) for path, text in broken.files.items() if text != repaired[path])
    after = ""
    if patch:
        after = _shortfall(case, meta, broken, repaired)
        outcome = "wrong" if after else "repaired"
    else:
        repaired, _ = apply_to(broken, broken.files, unsafe=True)
        helped = repaired != broken.files and not _shortfall(case, meta, broken, repaired)
        outcome = "repaired-unsafe" if helped else "reported" if told else "missed"
    about = meta["incident"]
    return Incident(name, meta["link"], about["class"], about["reach"], outcome, tuple(told), patch, after)


def _program(case: Path, tree: str, meta: dict[str, Any]) -> Program:
    setup = tuple(meta["setup"]) if "setup" in meta else None
    start = meta["script"], tuple(meta["args"]), setup, meta.get("setup_script"), meta.get("run_on", "sim")
    return Program(case.name, case / tree, *start)


def _shortfall(case: Path, meta: dict[str, Any], broken: Program, repaired: dict[str, str]) -> str:
    """Return why a fixed program does not train like the reference fix; empty if it does."""
    if meta["kind"] != "broken":
        return "no repair is known"
    run = run_program(broken, repaired, "sim")
    if not run.ok:
        return str(run.outcome)
    return "" if trains_alike(run, run_program(_program(case, "fixed", meta), {}, "sim")) else "trains differently"
