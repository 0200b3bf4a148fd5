"""The pairs: a commit of a public repository that requires CUDA, and its maintainers' device-neutral commit."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["DRIVERS", "STUBS", "Pair", "neutral", "pairs"]

HERE = Path(__file__).resolve().parent
DATA = HERE / "pairs.toml"
DRIVERS = HERE / "drivers"
STUBS = HERE / "stubs"

_CHOICE = '.to("cuda" if torch.cuda.is_available() else "cpu")'


@dataclass(frozen=True)
class Pair:
    """A program of a repository, before and after its maintainers made it neutral.

    Attributes:
        name: name of the driver in ``drivers/``: a program that trains for a few steps with the repository's modules.
        repository: ``owner/name``.
        before: the commit that is ported.
        after: the maintainers' neutral commit; empty if there is none.
        style: what the program does.
        files: the files whose places are counted; a file may be missing after.
        folder: the folder in which the driver is put and started.
        stubs: modules that replace packages which are imported and hardly used: ``stubs/NAME.py`` if there is one,
            else ``stubs/anything.py``.
        max_steps: end each run after this many optimizer steps; 0: no limit.
        held_out: the number of the set of programs that were first ported after the rules had been written: 1, and 2
            to 7 for those chosen after the rules had been improved with earlier ones; 0: those that they were
            developed with.

    """

    name: str
    repository: str
    before: str
    after: str
    style: str
    files: tuple[str, ...]
    folder: str = "."
    stubs: tuple[str, ...] = ()
    max_steps: int = 0
    held_out: int = 0

    @property
    def driver(self) -> Path:
        """The driver's file."""
        return DRIVERS / f"{self.name}.py"

    @property
    def script(self) -> str:
        """The driver's path within the tree."""
        return str(Path(self.folder) / f"drive_{self.name}.py")


def pairs(words: Iterable[str] = (), data: Path = DATA, *, held_out: int | None = None) -> Iterator[Pair]:
    """Yield the pairs whose name contains one of the words; all without words.

    ``held_out`` chooses one of the sets; all, if it is None.
    """
    words = list(words)
    for entry in tomllib.loads(data.read_text(encoding="utf-8"))["pair"]:
        pair = Pair(**{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()})
        in_set = held_out is None or pair.held_out == held_out
        if in_set and (not words or any(word in pair.name for word in words)):
            yield pair


def neutral(driver: str) -> str:
    """Return a driver for a neutral tree: what it moves with ``.cuda()`` goes to CUDA if available."""
    return driver.replace(".cuda()", _CHOICE)
