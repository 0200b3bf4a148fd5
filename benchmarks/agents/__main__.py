"""Measure ``devfix diagnose --output-format agent`` with a client that has no model: ``python -m benchmarks.agents``.

Each program fails on the simulated accelerator. The client pipes its log into ``devfix diagnose``, runs the command
that the last line of the answer names, and verifies the original against the repaired program; if that fails with
another error, it asks again, three times at most.

    python -m benchmarks.agents                                    # 40 programs
    python -m benchmarks.agents --only incidents/                  # those of them whose names contain the word
    python -m benchmarks.agents --table docs/development/agents.md # rewrite the section of the page
    python -m benchmarks.agents --json OUT.json                    # one document with all answers' figures
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks import pages
from benchmarks.agents import tables
from benchmarks.agents.client import attempt
from benchmarks.agents.programs import chosen


def main() -> int:
    """Print a line for each program and the figures; return 2 if nothing was chosen."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--programs", type=int, default=40, metavar="N", help="number of programs (default: 40)")
    reader.add_argument("--only", default="", metavar="WORD", help="only programs whose names contain it")
    reader.add_argument("--table", type=Path, help="rewrite the section of this page")
    reader.add_argument("--json", type=Path, help="write the attempts as JSON")
    options = reader.parse_args()
    attempts = []
    for program in chosen(options.programs):
        if options.only in program.name:
            made = attempt(program)
            attempts.append(made)
            print(f"{made.name}: {made.verdict or 'no edit'}, tokens {made.tokens}, {made.total:.0f} s", flush=True)
    if not attempts:
        print("no program contains the word", file=sys.stderr)
        return 2
    print(tables.totals(attempts))
    if options.json:
        options.json.write_text(json.dumps([each.as_dict() for each in attempts], indent=1) + "\n", encoding="utf-8")
    if options.table:
        pages.rewrite(options.table, tables.SECTION, tables.markdown(attempts, version("torch")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
