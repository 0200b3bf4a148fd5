"""Measure ``devfix port`` on public history: ``python -m benchmarks.port``.

Each pair in ``pairs.toml`` is a commit that requires CUDA, and the commit in which its maintainers removed that. Our
driver, in ``drivers/``, trains for a few steps with the repository's modules and synthetic data. devfix ports the tree
before, with the driver, which runs on both trees: on the CPU, on simulated CUDA, and on other simulated accelerators.
``DEVFIX_MIRRORS`` names the folder of git directories, ``OWNER+NAME/repo``.

    python -m benchmarks.port                              # the pairs that the rules were developed with
    python -m benchmarks.port --set held-out               # those that they were not developed with
    python -m benchmarks.port --set second                 # more of these, chosen later; third to eighth
    python -m benchmarks.port --only deeplpf --keep FOLDER # one pair; its trees stay in the folder
    python -m benchmarks.port --option=--to=any            # options of devfix port
    python -m benchmarks.port --jobs 2 --table docs/development/accuracy.md  # rewrite the section of the page
    python -m benchmarks.port --json OUT.json              # everything that was measured
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from benchmarks import pages
from benchmarks.port import tables
from benchmarks.port.catalogue import Pair, pairs
from benchmarks.port.trial import DEVICES, Trial, measure

#: The values of ``held_out`` in pairs.toml, by the name of the set; None: all sets.
SETS = {
    "developed": 0,
    "held-out": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "all": None,
}


def main() -> int:
    """Print a line for each pair and the totals; return 2 if nothing was chosen."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--set", choices=sorted(SETS), default="developed", help="of the programs; default: developed")
    reader.add_argument("--only", action="append", default=[], metavar="WORD", help="may be repeated")
    reader.add_argument("--jobs", type=int, default=1, help="number of pairs at the same time")
    reader.add_argument("--option", action="append", default=[], metavar="OPTION", help="of devfix port (repeatable)")
    reader.add_argument("--devices", default=",".join(DEVICES), help="where the ported programs run")
    reader.add_argument("--keep", type=Path, help="write the trees here, and keep them")
    reader.add_argument("--table", type=Path, help="rewrite the section of this page")
    reader.add_argument("--json", type=Path, help="write everything that was measured")
    options = reader.parse_args()
    chosen = list(pairs(options.only, held_out=SETS[options.set]))
    if not chosen:
        print("no pair contains one of the words", file=sys.stderr)
        return 2

    def one(pair: Pair) -> Trial:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(options.keep or scratch) / pair.name
            trial = measure(pair, folder, tuple(options.option), tuple(options.devices.split(",")))
        print(_line(trial), flush=True)
        return trial

    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(zip(chosen, pool.map(one, chosen), strict=True))
    print(tables.totals(results))
    if options.json:
        text = json.dumps([trial.as_dict() for _, trial in results], indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.table:
        text = tables.markdown(results, version("torch"), options.option, options.set)
        pages.rewrite(options.table, tables.SECTIONS[options.set], text)
    return 0


def _line(trial: Trial) -> str:
    result = "proved" if trial.is_proved else trial.status if trial.is_valid else "not counted"
    places = ", ".join(f"{side} {count}" for side, count in trial.places.items())
    runs = "; ".join(f"{side}: {found}" for side, found in trial.runs.items())
    return f"{trial.pair}: {result}. {trial.reason}\n  places {places}\n  {runs}"


if __name__ == "__main__":
    sys.exit(main())
