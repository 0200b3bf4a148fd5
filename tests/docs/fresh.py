"""Follow pages in a fresh environment, as a reader does: all commands of a page in one shell, from a copy of the clone.

    python tests/docs/fresh.py docs/tutorials/first-repair.md

The commands of blocks that follow ``<!-- fresh -->`` are run, too: they install devfix, and enter the folder of the
project.  The exit code is 1 if a command prints something else than the page shows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import transcripts

_END = "-- end of the command in "


class Shell:
    """A shell that keeps its folder and its environment from one command to the next."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Start it in a folder, with these variables only."""
        self._process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.folder = folder

    def run(self, command: str) -> str:
        """What a command prints; the folder afterwards is that of the next command."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f'{{ {command}\n}} </dev/null\necho "{_END}$PWD"\n')
        process.stdin.flush()
        lines = []
        for line in process.stdout:
            head, end, folder = line.partition(_END)
            lines.append(head)
            if end:
                self.folder = Path(folder.rstrip("\n"))
                return "".join(lines)
        raise RuntimeError(f"the shell ended in: {command}")

    def close(self) -> None:
        """End the shell."""
        self._process.communicate()


def copy_clone(target: Path) -> None:
    """Copy the files that git tracks, and those that it would not ignore."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=transcripts.ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        source = transcripts.ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def differences(page: str, clone: Path) -> list[str]:
    """Follow a page from the folder of a clone; each command that prints something else than the page shows."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "2", "DEVFIX_CACHE_DIR": str(clone.parent / "cache")}
    shell = Shell(clone, {**kept, **transcripts.TERMINAL, **quiet})
    found = []
    for step in transcripts.steps(page, fresh=True):
        step.prepare(shell.folder)
        if step.command:
            printed = transcripts.as_shown(shell.run(step.command))
            if not transcripts.same(step.shown, printed):
                found.append(f"$ {step.command}\n{printed}")
    shell.close()
    return found


def main(names: list[str]) -> int:
    """Follow the pages; 1 if one shows something else."""
    failed = False
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            clone = Path(scratch) / "devfix"
            copy_clone(clone)
            for difference in differences(Path(name).read_text(encoding="utf-8"), clone):
                failed = True
                print(f"{name} does not show this:\n{difference}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
