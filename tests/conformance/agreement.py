"""Recordings, and how far another run of the table agrees with one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from conformance.probes import baseline, names_device

__all__ = ["DATA", "Comparison", "Expected", "Pair", "compare", "load", "nearest"]

DATA = Path(__file__).resolve().parent.parent / "data"


class Expected(NamedTuple):
    """A recording; ``real`` says that a GPU made it."""

    path: Path
    real: bool
    head: dict[str, Any]
    outcomes: dict[str, dict[str, str]]


class Pair(NamedTuple):
    """One probe, and what it did in the recording and on the simulated device."""

    group: str
    probe: str
    recorded: str
    simulated: str


class Comparison(NamedTuple):
    """Probes by how they compare.

    Attributes:
        agreed: both accept, with results on the same devices, or both refuse.
        disagreed: one accepts and the other does not, or their results are on different devices.
        undecided: the recording says nothing about devices (the operator does not run there at all).
        missing: how many are not in the recording.

    """

    agreed: list[Pair]
    disagreed: list[Pair]
    undecided: list[Pair]
    missing: int

    @property
    def percentage(self) -> float:
        """Share of the decided probes that agree."""
        return 100 * len(self.agreed) / max(1, len(self.agreed) + len(self.disagreed))

    @property
    def refusals(self) -> list[Pair]:
        """Probes that both refuse."""
        return [pair for pair in self.agreed if not pair.recorded.startswith("ok")]

    @property
    def other_words(self) -> list[Pair]:
        """Refusals in other words than the recording's."""
        return [pair for pair in self.refusals if pair.recorded != pair.simulated]


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text.split("+")[0])[:3])


def nearest(version: str, data: Path = DATA) -> Path | None:
    """The recording to compare with: a GPU's before the stand-in's, then the nearest version."""
    wanted = _version(version)

    def distance(path: Path) -> tuple[int, ...]:
        return tuple(abs(one - other) for one, other in zip(_version(path.stem), wanted, strict=False))

    for kind in ("cuda", "standin"):
        paths = sorted((data / kind).glob("*.json"))
        if paths:
            return min(paths, key=distance)
    return None


def load(path: Path) -> Expected:
    """Read a recording."""
    found = json.loads(path.read_text(encoding="utf-8"))
    texts = found.pop("outcomes")
    groups = {
        group: {name: texts[index] for name, index in names.items()} for group, names in found.pop("probes").items()
    }
    return Expected(path, path.parent.name == "cuda", found, groups)


def _decided(text: str, whole: str | None) -> bool:
    """Whether an outcome says something about devices: it worked, or was refused for its devices.

    ``whole`` is what the same call did with everything on the accelerator: an operator that does not work there at all
    may fail before or after it looks at devices.
    """
    if names_device(text):
        return True
    return text.startswith("ok") and (whole is None or whole.startswith("ok"))


def _same(recorded: str, simulated: str) -> bool:
    return recorded == simulated if recorded.startswith("ok") else names_device(simulated)


def compare(expected: dict[str, dict[str, str]], simulated: dict[str, dict[str, str]]) -> Comparison:
    """Probe by probe."""
    found = Comparison([], [], [], 0)
    missing = 0
    for group, outcomes in simulated.items():
        recorded = expected.get(group, {})
        for name, text in outcomes.items():
            if name not in recorded:
                missing += 1
                continue
            pair = Pair(group, name, recorded[name], text)
            whole = baseline(name)
            if not _decided(recorded[name], recorded.get(whole) if whole else None):
                found.undecided.append(pair)
            elif _same(recorded[name], text):
                found.agreed.append(pair)
            else:
                found.disagreed.append(pair)
    return found._replace(missing=missing)
