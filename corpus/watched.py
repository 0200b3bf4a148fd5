"""Every program of the corpus runs the same under provenance: its end, losses, parameters, and random numbers.

    python corpus/watched.py                         # on the simulator
    python corpus/watched.py --device cpu seeds made # cases whose path contains one of the words, without accelerator

Prints what differs; exits with 1 where something does.  A map is taken of each, too: it must be there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from prove import Run, run, tomllib  # noqa: E402  # found by the line above

_COMPARED = ("losses", "steps", "digest", "random", "optimizers", "device_operations", "all_operations", "exit_code")


def programs(words: list[str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The folders of all programs, with what their case says of them."""
    for path in sorted(HERE.rglob("case.toml")):
        name = path.parent.relative_to(HERE).as_posix()
        if not words or any(word in name for word in words):
            meta = tomllib.loads(path.read_text(encoding="utf-8"))
            for tree in sorted(each for each in path.parent.iterdir() if (each / meta["script"]).is_file()):
                yield tree, meta


def differences(tree: Path, meta: dict[str, Any], device: str) -> list[str]:
    """What is not the same under provenance, and whether the map is missing."""
    alone = run(tree, meta, device)
    watched = run(tree, meta, device, provenance=True)
    found = [
        f"{name}: {getattr(alone, name)!r:.200} alone, {getattr(watched, name)!r:.200} watched"
        for name in _COMPARED
        if repr(getattr(alone, name)) != repr(getattr(watched, name))
    ]
    if _failure(alone) != _failure(watched):
        found.append(f"ended with {_failure(alone)} alone, with {_failure(watched)} watched")
    mapped = run(tree, meta, device, device_map=True)
    return found if mapped.map else [*found, f"no map: {mapped.output[-400:]}"]


def _failure(made: Run) -> tuple[Any, ...] | None:
    failure = made.failure
    return failure and (failure.type, failure.text, failure.line, failure.code)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("sim", "cpu"), default="sim")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args(arguments)
    count = bad = 0
    for tree, meta in programs(options.words):
        found = differences(tree, meta, options.device)
        count, bad = count + 1, bad + bool(found)
        for line in found:
            print(f"{tree.relative_to(HERE)}: {line}", flush=True)
    print(f"{count - bad} of {count} programs run the same under provenance")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
