"""Measure the accuracy of fixes: ``python -m benchmarks.repair injected|precision|incidents``.

    python -m benchmarks.repair injected --out OUT            # bugs planted into the corpus' correct programs
    python -m benchmarks.repair injected --most 20 word ...   # at most 20 of each kind, programs with one of the words
    python -m benchmarks.repair injected --tree DIR           # into the scripts of another tree
    python -m benchmarks.repair injected --trace              # what the rules leave is repaired by running it
    python -m benchmarks.repair precision DIR ...             # edits in correct code
    python -m benchmarks.repair incidents                     # rebuilt incidents, by class
    python -m benchmarks.repair incidents --details word ...  # those with one of the words, with failures in full

Tables go to the terminal as Markdown; ``--out`` also keeps ``injected.jsonl`` and ``failures.html`` there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path

from benchmarks.repair import incidents, injected, precision, programs, tables

CORPUS = Path(__file__).resolve().parents[2] / "corpus"


def _injected(options: argparse.Namespace) -> int:
    if options.tree:
        chosen = list(programs.from_tree(options.tree))
    else:
        chosen = [
            p for p in programs.from_corpus(CORPUS) if not options.words or any(w in p.name for w in options.words)
        ]
    planted = injected.mutants(chosen, options.most, options.seed)
    if options.operator:
        planted = [mutant for mutant in planted if mutant.mutation.operator in options.operator]
    print(f"{len(planted)} mutants of {len(chosen)} programs", file=sys.stderr, flush=True)
    results = []
    for number, result in enumerate(injected.examine(planted, options.jobs, options.trace), 1):
        results.append(result)
        if result.outcome in ("wrong", "harmless-edited", "missed", "reported", "repaired-by-run"):
            where = f"{result.operator} in {result.program}/{result.path}:{result.line}"
            runs = f" ({result.runs} runs)" if result.runs else ""
            print(
                f"{number}/{len(planted)} {result.outcome}{runs}: {where} {result.error[:100]}",
                file=sys.stderr,
                flush=True,
            )
            if options.details:
                said = (*result.tried, result.refused) if result.outcome != "repaired-by-run" else ()
                print("\n".join([result.planted, *said, result.patch]), file=sys.stderr, flush=True)
    print(tables.injected_table(results, options.trace))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(result.as_dict()) + "\n" for result in results)
        (options.out / "injected.jsonl").write_text(lines, encoding="utf-8")
        (options.out / "failures.html").write_text(tables.page(results), encoding="utf-8")
    return int(Counter(result.outcome for result in results)["wrong"] > 0)


def _precision(options: argparse.Namespace) -> int:
    found = list(precision.scan(options.trees, options.jobs))
    print(tables.precision_table(found))
    return int(any(tree.problems for tree in found))


def _incidents(options: argparse.Namespace) -> int:
    found = []
    for incident in incidents.examine(CORPUS, options.words):
        found.append(incident)
        line = f"{incident.outcome:16s} {incident.kind} {incident.reach} {incident.name} {incident.after}"
        print(line.rstrip(), file=sys.stderr, flush=True)
        if options.details and not incident.outcome.startswith("repaired"):
            print("\n".join([*incident.told, incident.patch]), file=sys.stderr, flush=True)
    print(tables.incident_table(found))
    return int(any(incident.outcome == "wrong" for incident in found))


def main() -> int:
    """Run one part; return 1 if an edit was wrong or devfix crashed."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = reader.add_subparsers(required=True)
    part = parts.add_parser("injected")
    part.set_defaults(run=_injected)
    part.add_argument("words", nargs="*")
    part.add_argument("--tree", type=Path)
    part.add_argument("--most", type=int, help="mutants of each operator, chosen at random")
    part.add_argument("--seed", type=int, default=0)
    part.add_argument("--operator", action="append")
    part.add_argument("--trace", action="store_true", help="what the rules do not repair is repaired by running it")
    part.add_argument("--details", action="store_true", help="the planted bug, what was tried, and the patch")
    part.add_argument("--out", type=Path)
    part = parts.add_parser("precision")
    part.set_defaults(run=_precision)
    part.add_argument("trees", nargs="+")
    part = parts.add_parser("incidents")
    part.set_defaults(run=_incidents)
    part.add_argument("words", nargs="*")
    part.add_argument("--details", action="store_true", help="what devfix found and edited where it did not repair")
    for each in parts.choices.values():
        each.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = reader.parse_args()
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())
