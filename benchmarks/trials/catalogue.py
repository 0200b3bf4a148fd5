"""The trials: programs with device errors, wrong patches of them and right repairs, as data."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROGRAMS = Path(__file__).resolve().parent / "programs"
DATA = "trials.toml"
RIGHT = ("fixed",)
NEVER_ACCEPTABLE = frozenset({"fixed", "no-error"})

Kind = Literal["wrong", "right"]


@dataclass(frozen=True)
class Edit:
    """A text that occurs once in a file, and its replacement."""

    file: str
    old: str
    new: str

    def apply(self, text: str) -> str:
        """Return the edited text.

        Raises:
            ValueError: if the old text does not occur exactly once.

        """
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file}: occurs {text.count(self.old)} times, not once: {self.old!r}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Trial:
    """One patch of a program.

    Attributes:
        kind: ``wrong`` if a verdict must refuse the patch, ``right`` if it must accept it.
        why: what makes a wrong patch wrong; empty for a right one.
        acceptable: the verdicts that are correct for the patch.
        limit: the documented reason for which the verdict cannot refuse a wrong patch; empty if it must.

    """

    kind: Kind
    name: str
    why: str
    edits: tuple[Edit, ...]
    acceptable: tuple[str, ...]
    limit: str = ""


@dataclass(frozen=True)
class Program:
    """A program of a few files that fails on an accelerator.

    Attributes:
        setup: arguments of a run of ``setup_script`` that prepares the folder, or None.
        repair: a right repair, which most wrong patches contain.

    """

    folder: Path
    script: str
    args: tuple[str, ...]
    setup_script: str | None
    setup: tuple[str, ...] | None
    repair: tuple[Edit, ...]
    trials: tuple[Trial, ...]

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.folder.name

    def write_original(self, folder: Path) -> None:
        """Copy the program into a new folder."""
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns(DATA, "__pycache__"))

    def write_patched(self, folder: Path, trial: Trial) -> None:
        """Copy the program into a new folder and apply a patch.

        Raises:
            ValueError: if an edit does not fit.

        """
        self.write_original(folder)
        for edit in trial.edits:
            path = folder / edit.file
            path.write_text(edit.apply(path.read_text(encoding="utf-8")), encoding="utf-8")


def programs(words: Iterable[str] = ()) -> Iterator[Program]:
    """Yield the programs with the trials whose ``program: name`` contains one of the words; all without words."""
    words = list(words)
    for path in sorted(PROGRAMS.glob(f"*/{DATA}")):
        program = _program(path.parent, tomllib.loads(path.read_text(encoding="utf-8")), words)
        if program.trials:
            yield program


def _program(folder: Path, data: Mapping[str, Any], words: Sequence[str]) -> Program:
    script: str = data["script"]
    repair = _edits(data["repair"], script)
    wrong = [
        Trial(
            "wrong",
            entry["name"],
            entry["why"],
            (repair if entry.get("base", True) else ()) + _edits(entry["edits"], script),
            tuple(entry["acceptable"]),
            entry.get("limit", ""),
        )
        for entry in data["wrong"]
    ]
    right = [Trial("right", entry["name"], "", _edits(entry["edits"], script), RIGHT) for entry in data["right"]]
    chosen = (trial for trial in wrong + right if not words or any(w in f"{folder.name}: {trial.name}" for w in words))
    return Program(
        folder,
        script,
        tuple(data.get("args", ())),
        data.get("setup_script"),
        tuple(data["setup"]) if "setup" in data else None,
        repair,
        tuple(chosen),
    )


def _edits(pairs: Iterable[Sequence[str]], script: str) -> tuple[Edit, ...]:
    return tuple(Edit(pair[2] if len(pair) > 2 else script, pair[0], pair[1]) for pair in pairs)
