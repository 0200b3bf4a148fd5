"""Correct programs for planting bugs: the clean and fixed trees of the corpus, or any tree."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Program", "from_corpus", "from_tree"]


@dataclass(frozen=True)
class Program:
    """A correct program: folder, entry script, arguments, and setup run."""

    name: str
    root: Path
    script: str
    args: tuple[str, ...] = ()
    setup: tuple[str, ...] | None = None
    setup_script: str | None = None
    run_on: str = "sim"

    @property
    def files(self) -> dict[str, str]:
        """Return the texts of its Python files by relative path."""
        paths = sorted(self.root.rglob("*.py"))
        return {path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def from_corpus(corpus: Path) -> Iterator[Program]:
    """Return the clean and fixed programs of the corpus, except those of corpus/trace."""
    for path in sorted(corpus.rglob("case.toml")):
        meta = tomllib.loads(path.read_text(encoding="utf-8"))
        tree = {"broken": "fixed", "clean": "clean"}.get(meta["kind"])
        if tree is None or "trace" in meta:
            continue
        yield Program(
            f"{path.parent.relative_to(corpus).as_posix()}/{tree}",
            path.parent / tree,
            meta["script"],
            tuple(meta["args"]),
            tuple(meta["setup"]) if "setup" in meta else None,
            meta.get("setup_script"),
            meta.get("run_on", "sim"),
        )


def from_tree(tree: Path, args: Sequence[str] = ()) -> Iterator[Program]:
    """Return each entry script of a folder as a program."""
    for path in sorted(tree.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "import torch" in text and ".backward()" in text:
            yield Program(path.relative_to(tree).as_posix(), path.parent, path.name, tuple(args))
