"""Measure which functions of PyTorch the analysis knows: ``python -m benchmarks.knowledge``.

For each public function, method, operator, module and factory, the operator database of the installed PyTorch gives one
broken program, whose operands are on different devices, and one repaired program. The simulator confirms that the first
one fails with a device error on its last line and that the second one runs. A function is known if ``devfix check``
reports an error on that line, and nothing in the repaired program.

    python -m benchmarks.knowledge --list-missing            # also the functions that are not known
    python -m benchmarks.knowledge --group torch.linalg --keep DIR  # one group; keep the programs
    python -m benchmarks.knowledge --json OUT.json           # the result and the programs of each function
    python -m benchmarks.knowledge --table docs/development/accuracy.md  # rewrite the table of the page
    python -m benchmarks.knowledge --examples tests/data/operations.jsonl  # write the examples of the tests
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from rich.console import Console

from benchmarks.knowledge import tables
from benchmarks.knowledge.catalogue import GROUPS, candidates
from benchmarks.knowledge.examples import Example
from benchmarks.knowledge.judgement import Result, judge
from benchmarks.knowledge.machine import confirmed
from benchmarks.knowledge.recording import dumps


def _examples(groups: Sequence[str]) -> Iterator[list[Example]]:
    for group, _, found in candidates():
        if group in groups:
            yield list(found)


def _list_missing(results: Sequence[Result]) -> None:
    for result in results:
        group, name, mixed = *result.confirmed.example[:2], result.mixed
        for kind, messages in (("finding in repaired", result.repaired), ("finding in mixed", mixed)):
            print(*(f"{kind}: {group}: {name}: {message}" for message in messages), sep="\n", end="\n" * bool(messages))
        if not result.reported[0]:
            print(f"missing: {group}: {name}")
        elif not all(result.reported):
            missed = [
                place for place, is_seen in zip(result.confirmed.broken, result.reported, strict=True) if not is_seen
            ]
            names = [result.confirmed.example.operands[position].name for place in missed for position in sorted(place)]
            print(f"in part: {group}: {name}: {', '.join(dict.fromkeys(names))}")


def main() -> int:
    """Print the table; return 1 if a repaired program has a finding."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--group", action="append", choices=GROUPS, help="only this group; may be repeated")
    reader.add_argument("--list-missing", action="store_true", help="list what is not known, or known in part")
    reader.add_argument("--json", type=Path, help="write the results as JSON")
    reader.add_argument("--table", type=Path, help="rewrite the table of this page")
    reader.add_argument("--keep", type=Path, help="keep the programs in this new folder")
    reader.add_argument("--examples", type=Path, help="write the confirmed examples")
    options = reader.parse_args()
    warnings.simplefilter("ignore")
    examples = list(_examples(options.group or GROUPS))  # outside the simulator
    chosen = list(confirmed(examples))
    if options.examples:
        options.examples.write_text(dumps(chosen), encoding="utf-8")
    results = judge(chosen, options.keep)
    found = tables.rows(results)
    Console().print(tables.terminal(found))
    if options.list_missing:
        _list_missing(results)
    if options.json:
        options.json.write_text(json.dumps([result.as_dict() for result in results], indent=1) + "\n", encoding="utf-8")
    if options.table:
        tables.rewrite(options.table, tables.markdown(found, torch.__version__.partition("+")[0]))
    return int(any(result.repaired for result in results))


if __name__ == "__main__":
    sys.exit(main())
