"""The pictures of the README, made from real runs: ``python docs/pictures.py`` writes them to ``docs/_static``."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

__all__ = ["FILES", "repair"]

ROOT = Path(__file__).parents[1]
_EXAMPLE = ROOT / "corpus" / "seeds" / "llms_from_scratch" / "broken"
_WIDTH = 104
_COLOURS = {
    "black": (70, 75, 88),
    "red": (255, 123, 114),
    "green": (86, 211, 100),
    "yellow": (227, 179, 65),
    "blue": (110, 168, 254),
    "magenta": (210, 168, 255),
    "cyan": (86, 212, 221),
    "white": (214, 218, 226),
}
_THEME = TerminalTheme((24, 26, 32), _COLOURS["white"], list(_COLOURS.values()))


def repair() -> str:
    """Return the picture of a repair: the findings in a folder of the corpus, and the diff that fixes them, as SVG."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(_EXAMPLE, scratch, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        return _picture([(line, _shown(line, scratch)) for line in ("devfix check .", "devfix apply . --diff --quiet")])


def _shown(command: str, folder: str) -> str:
    """Return what a command prints on a terminal, with colours."""
    terminal, its_end = pty.openpty()
    fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, _WIDTH, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", *command.split()],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "HOME": folder},
        stdin=subprocess.DEVNULL,
        stdout=its_end,
        stderr=subprocess.DEVNULL,  # the progress
    )
    os.close(its_end)
    printed = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while chunk := os.read(terminal, 4096):
            printed += chunk
    os.close(terminal)
    process.wait()
    return printed.decode().replace("\r\n", "\n")


def _picture(session: list[tuple[str, str]]) -> str:
    """Return commands and what they print as SVG, which requests no font and names no part by chance."""
    console = Console(
        file=io.StringIO(),
        record=True,
        width=_WIDTH,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    for command, printed in session:
        console.print(Text.assemble(("$ ", "dim"), (command, "bold")), soft_wrap=True)
        console.print(Text.from_ansi(printed.rstrip()), "", soft_wrap=True, sep="\n")
    svg = console.export_svg(title="devfix", theme=_THEME, unique_id="terminal")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


#: Each picture's file, and the function that returns its content.
FILES = {ROOT / "docs" / "_static" / "repair.svg": repair}

if __name__ == "__main__":
    for path, made in FILES.items():
        path.write_text(made(), encoding="utf-8")
