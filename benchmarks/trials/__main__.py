"""Attack the verdict of ``devfix verify``: ``python -m benchmarks.trials``.

Each program in ``programs/`` fails on an accelerator. Its ``trials.toml`` has right repairs, which must be called
``fixed``, and wrong patches, which make the error disappear and spoil something else, often on the accelerator only.

    python -m benchmarks.trials                         # all trials
    python -m benchmarks.trials --only gan --only clip  # trials whose `program: name` contains one of the words
    python -m benchmarks.trials --jobs 2 --table docs/development/verification.md  # rewrite the section of the page
    python -m benchmarks.trials --json OUT.json         # verdicts and reasons of all trials
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks import pages
from benchmarks.trials import tables
from benchmarks.trials.catalogue import programs
from benchmarks.trials.judgement import Result, judge


def _as_dict(result: Result) -> dict[str, object]:
    return {
        "program": result.program,
        "kind": result.trial.kind,
        "name": result.trial.name,
        "status": result.status,
        "reason": result.reason,
        "off": result.is_off,
        "seconds": round(result.seconds, 1),
    }


def main() -> int:
    """Print a line for each trial and the totals; return 1 if a verdict is not acceptable, 2 if nothing was chosen."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--only", action="append", default=[], metavar="WORD", help="may be repeated")
    reader.add_argument("--jobs", type=int, default=1, help="number of concurrent proofs")
    reader.add_argument("--device", choices=("sim", "cuda"), default="sim")
    reader.add_argument("--table", type=Path, help="rewrite the section of this page")
    reader.add_argument("--json", type=Path, help="write the results as JSON")
    options = reader.parse_args()
    chosen = list(programs(options.only))
    if not chosen:
        print("no trial contains one of the words", file=sys.stderr)
        return 2
    order = [(program.name, trial) for program in chosen for trial in program.trials]
    results = []
    for result in judge(chosen, options.jobs, options.device):
        print(result, flush=True)
        results.append(result)
    results.sort(key=lambda result: order.index((result.program, result.trial)))
    print(tables.totals(results))
    if options.json:
        options.json.write_text(json.dumps([_as_dict(r) for r in results], indent=1) + "\n", encoding="utf-8")
    if options.table:
        pages.rewrite(options.table, tables.SECTION, tables.markdown(results, version("torch"), options.device))
    return int(any(result.is_off for result in results))


if __name__ == "__main__":
    sys.exit(main())
