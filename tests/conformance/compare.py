"""Hold the simulated device to what a CUDA build of PyTorch says.

    python tests/conformance/compare.py                            # against the recording for the installed PyTorch
    python tests/conformance/compare.py --table docs/development/conformance.md
    python tests/conformance/compare.py --against FILE.json --only add

The expected side is a recording made by ``record.py``: one from a real GPU (tests/data/cuda) if there is one, else one
from the CUDA build of PyTorch on the stand-in runtime (tests/data/standin), whose device checks are PyTorch's own; of
each kind the nearest version.  Nothing of the simulator decides what is expected.  Exit code 1 below the target.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from conformance.agreement import Comparison, compare, load, nearest
from conformance.page import page, summary
from conformance.probes import HAND, operators, outcome, probes
from devfix.simulator import Simulator

__all__ = ["TARGET", "simulate"]

TARGET = 99.0  # percent


def simulate(groups: Iterable[str]) -> dict[str, dict[str, str]]:
    """Run these groups of the table on the simulated device; groups that this PyTorch does not have are left out."""
    groups = list(groups)
    entries = operators() if set(groups) - {HAND} else {}
    found: dict[str, dict[str, str]] = {}
    for group in groups:
        if group == HAND or group in entries:
            with Simulator():
                found[group] = {
                    probe.name: outcome(probe.call, answers=group == HAND) for probe in probes(group, entries)
                }
    return found


def _listed(found: Comparison, words: bool) -> Iterable[str]:
    for pair in found.disagreed:
        yield f"{pair.group}, {pair.probe}\n    recorded  {pair.recorded}\n    simulated {pair.simulated}"
    if words:
        for (one, other), count in Counter((pair.recorded, pair.simulated) for pair in found.other_words).most_common():
            yield f"{count} times\n    recorded  {one}\n    simulated {other}"


def main(arguments: list[str]) -> int:
    """Compare; 1 below :data:`TARGET`, 2 if nothing is recorded."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--against", type=Path, help="a recording; by default the nearest")
    reader.add_argument("--only", default="", help="operators whose name begins so")
    reader.add_argument("--table", type=Path, help="write the report as Markdown")
    reader.add_argument("--words", action="store_true", help="list refusals in other words as well")
    options = reader.parse_args(arguments)
    path = options.against or nearest(torch.__version__)
    if path is None:
        print("nothing recorded: run `nox -s record-cuda` on a GPU, or `nox -s record-standin`", file=sys.stderr)
        return 2
    expected = load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulated = simulate(each for each in expected.outcomes if each.startswith(options.only))
    found = compare(expected.outcomes, simulated)
    for text in _listed(found, options.words):
        print(text)
    print(summary(expected, found))
    if options.table is not None:
        options.table.write_text(page(expected, found), encoding="utf-8")
    return 0 if found.percentage >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
