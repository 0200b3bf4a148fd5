"""Run the corpus on the simulated accelerator and hold every case to what its case.toml says.

    python corpus/prove.py                      # all cases
    python corpus/prove.py order batch/step     # those whose path contains one of the words

A broken program must die of its error there (or, for a silent bug, train something else), its repaired twin must train
bit for bit as the broken one does where there is only one device, and a clean program must train there as it does on the
CPU. Needs torch and numpy in the interpreter that runs it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from devfix.verify import Run  # noqa: E402  # found by the line above
from devfix.verify import run as run_script  # noqa: E402  # found by the line above

MINIMUM_LOSSES = 3
MINIMUM_STEPS = 2
CLOSE = 1e-4


def installed(case: Path, meta: dict[str, Any]) -> dict[str, str]:
    """Return the variables that add a case's folders of installed packages (``path``) to the search path."""
    folders = [str(case / name) for name in meta.get("path", ())]
    return {"PYTHONPATH": os.pathsep.join(folders)} if folders else {}


def run(tree: Path, meta: dict[str, Any], device: str, **options: bool) -> Run:
    """Run a case's program, after its setup where it has one, in one scratch folder.

    ``device`` is ``sim`` or ``cpu``; a case with ``run_on = "cpu"`` is set up on ``sim``, if at all, and then run on
    ``cpu``.  ``options`` are those of ``devfix.verify.run``.
    """
    return run_script(
        meta["script"],
        meta["args"],
        meta.get("run_on", device) if device == "sim" else device,
        tree,
        devices=meta.get("devices", 1),
        kind=meta.get("accelerator", "cuda"),
        env=installed(tree.parent, meta),
        setup=meta.get("setup"),
        setup_script=meta.get("setup_script"),
        setup_device=device,
        torchrun=meta.get("torchrun", False),
        **options,
    )


def ended_well(run: Run) -> bool:
    """Whether the program came to its end and trained enough to compare."""
    return run.ok and not run.unsupported and len(run.losses) >= MINIMUM_LOSSES and run.steps >= MINIMUM_STEPS


def explain(run: Run) -> str:
    """Why a run that should have ended well did not."""
    if run.failure is not None:
        return run.failure.traceback
    return f"{run.outcome}, {len(run.losses)} losses, {run.steps} steps, unsupported: {run.unsupported}"


def same(one: Run, other: Run, close: bool = False) -> bool:
    """Whether two runs trained the same: bit for bit, or with ``close`` within rounding."""
    if close:
        pairs = list(zip(one.losses, other.losses))
        return len(one.losses) == len(other.losses) and all(abs(a - b) <= CLOSE * abs(b) for a, b in pairs)
    return (one.losses, one.digest, one.steps) == (other.losses, other.digest, other.steps)


def prove(case: Path) -> list[str]:
    """What does not hold of a case; empty if all does."""
    meta = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
    found: list[str] = []

    def well(name: str, made: Run) -> Run:
        if not ended_well(made):
            found.append(f"{name}: {explain(made)}")
        return made

    if meta["kind"] == "clean":
        here, there = (
            well("clean/cpu", run(case / "clean", meta, "cpu")),
            well("clean/sim", run(case / "clean", meta, "sim")),
        )
        if not found and not same(here, there):
            found.append(f"clean: trains {there.losses} instead of {here.losses}")
        return found

    insists = meta.get("reference") == "accelerator"
    anywhere = {key: value for key, value in meta.items() if key != "run_on"} if insists else meta
    broken_cpu = well("broken/cpu", run(case / "broken", anywhere, "sim" if insists else "cpu"))
    broken_sim = run(case / "broken", meta, "sim")
    if meta["error"] == "silent":
        well("broken/sim", broken_sim)
    elif broken_sim.failure is None:
        found.append("broken/sim: raises nothing")
    elif meta["error"] not in broken_sim.failure.text:
        found.append(f"broken/sim: dies of {explain(broken_sim)}")
    if meta["kind"] == "report":
        return found

    fixed_cpu = well("fixed/cpu", run(case / "fixed", meta, "cpu"))
    fixed_sim = well("fixed/sim", run(case / "fixed", anywhere, "sim"))
    differ = meta["error"] == "silent" or meta.get("losses") == "differ"
    elsewhere = meta["error"] == "silent" and not same(fixed_sim, broken_sim)  # silent on the accelerator only
    if not found and differ and same(fixed_cpu, broken_cpu) and not elsewhere:
        found.append("fixed: trains as the broken program does")
    reference = fixed_cpu if differ else broken_cpu
    if not found and not same(fixed_sim, reference, close=meta.get("losses") == "close"):
        found.append(f"fixed/sim: trains {fixed_sim.losses}, the reference {reference.losses}")
    return found


def main(words: list[str]) -> int:
    """Prove the cases that the words choose; 1 if one does not hold."""
    cases = sorted(path.parent for path in HERE.rglob("case.toml"))
    chosen = [case for case in cases if not words or any(word in str(case.relative_to(HERE)) for word in words)]
    bad = 0
    for case in chosen:
        found = prove(case)
        print("FAIL" if found else "ok  ", case.relative_to(HERE), flush=True)
        for line in found:
            print("     " + line.strip().replace(os.linesep, os.linesep + "     "))
        bad += bool(found)
    print(f"{len(chosen) - bad} of {len(chosen)} cases hold")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
