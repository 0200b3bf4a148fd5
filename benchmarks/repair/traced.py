"""Fix planted bugs that safe fixes do not repair, as ``apply --trace --unsafe-fixes`` does."""

from __future__ import annotations

import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.repair.programs import Program

__all__ = ["Traced", "repaired_by_running"]


@dataclass(frozen=True)
class Traced:
    """The result of a search: the program's texts if it was fixed, otherwise the reason; and its cost."""

    texts: dict[str, str] | None
    reason: str
    runs: int
    seconds: float
    tried: tuple[str, ...]


def repaired_by_running(program: Program, texts: Mapping[str, str], read: Mapping[str, str], timeout: float) -> Traced:
    """Search for a fix of a program.

    Args:
        program: where it comes from, and how it starts.
        texts: its files, with the bug.
        read: what the rules make of them, with safe edits: the search begins with it.
        timeout: seconds for each run.

    """
    from devfix.config import Settings
    from devfix.trace.repair.limits import Bounds
    from devfix.trace.repair.search import repair
    from devfix.verify.experiment import Limits, prepare

    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        root = Path(folder) / "program"
        shutil.copytree(program.root, root, ignore=shutil.ignore_patterns("__pycache__"))
        for path, text in texts.items():
            (root / path).write_text(text, encoding="utf-8")
        experiment = prepare(
            str(root / program.script),
            program.args,
            device=program.run_on,
            cwd=str(root),
            folder=str(root),
            limits=Limits(timeout),
            setup=None if program.setup is None else shlex.join(program.setup),
        )
        experiment.setup_script = program.setup_script
        changes = {path: text.encode() for path, text in read.items() if text != texts[path]}
        tried: list[str] = []
        started = time.monotonic()
        asked = Bounds(experiment.project, Settings(root=str(root), unsafe_fixes=True))
        found = repair(experiment, changes, asked, report=tried.append)
        seconds = time.monotonic() - started
    if not found.repaired:
        return Traced(None, found.reason, found.runs, seconds, tuple(tried))
    repaired = {**texts, **{path: new.decode() for path, new in found.changes.items()}}
    return Traced(repaired, "", found.runs, seconds, tuple(tried))
