"""Pages whose commands are run: what a page prints is what the commands print.

A page shows files and commands.  ``<!-- file: train.py -->`` ahead of a fenced block names the file that the block is,
``<!-- folder: PATH -->`` brings the files of a folder of the repository.  A block of ``console`` holds commands behind
``$`` with their output, all in one folder, from the top of the page to its end; a line ``…`` stands for any lines.
``<!-- not run -->`` ahead of a block leaves it out; ``<!-- fresh -->`` names one that prepares an environment, which
only ``fresh.py`` runs.

    python tests/docs/transcripts.py docs/tutorials/first-repair.md

writes what the commands print now into the page.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_GENERATED = ("docs/reference/rules/", "docs/reference/schemas/")  # by docs/reference_pages
_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>[\w-]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_NUMBER = re.compile(r"(\d+\.\d{3,})")
_INTERPRETER = re.compile(r"(device .*, )/\S*/bin/python[\d.]*")
_VERSION = re.compile(r"\bPython 3\.\d+\.\d+")
#: The terminal and the author that the pages show.
TERMINAL = {
    "PYTHONUNBUFFERED": "1",
    "COLUMNS": "88",
    "CUDA_VISIBLE_DEVICES": "",
    "NO_COLOR": "1",
    "DEVFIX_AGENT": "0",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}
_BUILD = re.compile(r"\btorch( +)(\d+\.\d+\.\d+)(\+\w+)?(, built for [^,\n]*)?")


@dataclass(frozen=True)
class Step:
    """A file to write (``name``), a folder to bring, or a command with the output that stands at ``span``."""

    name: str = ""
    folder: str = ""
    command: str = ""
    shown: str = ""
    span: tuple[int, int] = (0, 0)

    def prepare(self, here: Path) -> None:
        """Write the file, or bring the folder."""
        if self.name:
            path = here / self.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.shown, encoding="utf-8")
        if self.folder:
            shutil.copytree(ROOT / self.folder, here, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))


def pages() -> list[Path]:
    """Return the pages that are written by hand: those at the root, and those below docs."""
    found = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    return sorted(page for page in found if not page.relative_to(ROOT).as_posix().startswith(_GENERATED))


def steps(page: str, *, fresh: bool = False) -> Iterator[Step]:
    """What a page asks for, in its order; with ``fresh``, also the blocks that prepare the environment."""
    for block in _BLOCK.finditer(page):
        mark = block["mark"] or ""
        if mark.startswith("file: "):
            yield Step(name=mark.removeprefix("file: "), shown=block["body"])
            continue
        if mark.startswith("folder: "):
            yield Step(folder=mark.removeprefix("folder: "))
        left_out = {"not run"} if fresh else {"not run", "fresh"}
        if block["language"] == "console" and mark not in left_out:
            yield from _commands(block["body"], block.start("body"))


def _commands(body: str, offset: int) -> Iterator[Step]:
    starts = [match.start() for match in re.finditer(r"^\$ ", body, re.MULTILINE)]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        command, _, shown = body[start + 2 : end].partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command += f"\n{more}"
        first = offset + end - len(shown)
        yield Step(command=command, shown=shown, span=(first, first + len(shown)))


def run(command: str, folder: Path) -> str:
    """What a command prints, standard error included, in the order of a terminal, which is 88 columns wide.

    There is no accelerator; the interpreter, its version and the build of torch are those of the pages.
    """
    environment = {
        **TERMINAL,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "DEVFIX_CACHE_DIR": str(folder.parent / "cache"),
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return as_shown(done.stdout)


def as_shown(printed: str) -> str:
    """What a command printed, with the interpreter, the version and the build of torch of the pages."""
    printed = _BUILD.sub(r"torch\1\2+cpu", _INTERPRETER.sub(r"\1.venv/bin/python", printed))
    lines = _VERSION.sub("Python 3.11.7", printed).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def same(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; decimal fractions may differ by a thousandth, as processors do."""
    wanted, found = shown.splitlines(), printed.splitlines()
    if "…" in wanted:
        cut = wanted.index("…")
        head, tail = wanted[:cut], wanted[cut + 1 :]
        rest = found[cut:]
        return _alike(head, found[:cut]) and any(
            same("\n".join(tail), "\n".join(rest[skip:])) for skip in range(len(rest) + 1)
        )
    return _alike(wanted, found)


def _alike(wanted: list[str], found: list[str]) -> bool:
    one, other = _NUMBER.split("\n".join(wanted)), _NUMBER.split("\n".join(found))
    return len(one) == len(other) and all(
        math.isclose(float(a), float(b), rel_tol=1e-3) if number % 2 else a == b
        for number, (a, b) in enumerate(zip(one, other, strict=True))
    )


def rewrite(page: str, folder: Path) -> str:
    """The page with what its commands print now, but where it shows parts only."""
    parts, done = [], 0
    for step in steps(page):
        step.prepare(folder)
        if not step.command:
            continue
        printed = run(step.command, folder)
        parts += [page[done : step.span[0]], step.shown if same(step.shown, printed) else printed]
        done = step.span[1]
    return "".join([*parts, page[done:]])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "nets").mkdir()
            text = rewrite(Path(name).read_text(encoding="utf-8"), Path(scratch) / "nets")
        Path(name).write_text(text, encoding="utf-8")
