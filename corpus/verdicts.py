"""The verdict of ``devfix verify`` on every broken program of the corpus and its repaired twin.

python corpus/verdicts.py                                  # on the simulator
python corpus/verdicts.py --device cuda --table OUT.md     # on a GPU; writes the table
python corpus/verdicts.py order batch/step                 # cases whose path contains one of the words
python corpus/verdicts.py trace                            # those that only a run explains; they are not in the table
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from prove import installed  # noqa: E402  # found by the line above

from benchmarks import pages  # noqa: E402  # found by the line above
from devfix.verify import Verdict, prove  # noqa: E402  # found by the line above

DEVICES = ("sim", "cuda")
SECTION = "corpus"
_MADE = {
    "sim": "Losses are compared bit for bit. Made by `python corpus/verdicts.py --table docs/development/verification.md`; `nox -s cuda` makes it on a GPU.",
    "cuda": "Losses are compared within the tolerance of `devfix/verify/loss_comparison.py`. Made by `nox -s cuda`.",
}


class Case(NamedTuple):
    """One broken program, by its path within the corpus."""

    name: str
    meta: dict[str, Any]


def cases(words: Iterable[str] = ()) -> list[Case]:
    """Broken programs that have a repaired twin.

    Not the incidents: some of them choose the CPU, some train something else once they are repaired (corpus/prove.py).
    Those that only a run explains (``[trace]``) where a word chooses them.
    """
    words = list(words)
    found = []
    for path in sorted(HERE.rglob("case.toml")):
        case = Case(path.parent.relative_to(HERE).as_posix(), tomllib.loads(path.read_text(encoding="utf-8")))
        specified = case.meta["kind"] == "broken" and "incident" not in case.meta
        named = any(word in case.name for word in words)
        if specified and (named or (not words and "trace" not in case.meta)):
            found.append(case)
    return found


def verdict(case: Case, device: str = "sim") -> Verdict:
    """What running the broken program and its repaired twin proves."""
    meta, folder = case.meta, HERE / case.name
    return prove(
        folder / "broken",
        folder / "fixed",
        meta["script"],
        meta["args"],
        setup=meta.get("setup"),
        setup_script=meta.get("setup_script"),
        run_on=meta.get("run_on", device),
        setup_on=device,
        env=installed(folder, meta),
        devices=meta.get("devices", 1),
        kind=meta.get("accelerator", "cuda"),
        torchrun=meta.get("torchrun", False),
    )


def difference(found: Verdict) -> float | None:
    """Largest difference of losses between the repaired program and what it was compared with."""
    if found.reference is None:
        return None
    pairs = zip(found.runs["patched/device"].losses, found.runs[found.reference].losses)
    return max((abs(one - other) for one, other in pairs if one != other), default=0.0)


def row(case: Case, found: Verdict) -> str:
    """A row of the table: case, error before, verdict, largest difference."""
    failure = found.runs["original/device"].failure
    none = "none: it trains something else" if found.silent else "none"
    error = failure.text.strip().split("\n")[0][:110].replace("|", "\\|") if failure else none
    worst = difference(found)
    return f"| {case.name} | {error} | {found.status} | {'–' if worst is None else f'{worst:.2g}'} |"


def gpu() -> str | None:
    """Name and versions of the CUDA device; None where torch sees none.  Asked in a process of its own, which ends."""
    asked = (
        "import torch\nif torch.cuda.is_available():\n"
        "    print(torch.cuda.get_device_name(), 'with CUDA', torch.version.cuda)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def heading(device: str) -> str:
    """What the table was made with."""
    import torch

    name = "a simulated CUDA device" if device == "sim" else gpu()
    return f"Every broken program of the corpus on {name}, torch {torch.__version__}, Python {platform.python_version()}. {_MADE[device]}"


def main(arguments: list[str]) -> int:
    """Print the verdicts; 1 if one is not ``fixed``, 2 if the device is not there."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--device", choices=DEVICES, default="sim")
    reader.add_argument("--table", type=Path, help="write the table into its section of this page")
    reader.add_argument("words", nargs="*")
    options = reader.parse_args(arguments)
    if options.device == "cuda" and gpu() is None:
        print(f"no CUDA device: {sys.executable} has no torch that sees one", file=sys.stderr)
        return 2
    rows, bad = [], 0
    chosen = [case for case in cases(options.words) if options.device == "sim" or not {"devices", "accelerator"} & case.meta.keys()]
    for case in chosen:
        found = verdict(case, options.device)
        rows.append(row(case, found))
        bad += found.status != "fixed"
        print(f"{found.status:13s} {case.name}" + ("" if found.status == "fixed" else f": {found.reason}"), flush=True)
    total = f"{len(chosen) - bad} of {len(chosen)} are fixed."
    print(total)
    if options.table is not None:
        text = [
            heading(options.device),
            "",
            total,
            "",
            "| case | error before | verdict | largest difference |",
            "|---|---|---|---|",
        ]
        if not options.table.exists():
            pages.create(options.table, "Verification", SECTION)
        pages.rewrite(options.table, SECTION, "\n".join([*text, *rows]))
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
