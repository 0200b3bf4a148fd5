"""The client: pipes a log into ``devfix diagnose``, runs the command that the answer names, and verifies."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.agents.programs import Program

__all__ = ["Attempt", "attempt", "named_command", "tokens"]

_ROOT = Path(__file__).parents[2]
_MOST_ANSWERS = 3
_NEXT = re.compile(r"^devfix: .*; next: (devfix [^;]+?)(?:;.*)?$", re.MULTILINE)
_PIECE = re.compile(r"[A-Za-z]+|\d+|[^\sA-Za-z\d]|\n")
_LETTERS, _DIGITS = 5, 3


@dataclass
class Attempt:
    """The repair of a program.

    Attributes:
        name: the program.
        files: the number of its files.
        tokens: of each answer.
        seconds: of each answer.
        commands: what the answers named, and the client ran.
        verdict: of ``devfix verify`` on the original and the repaired program; empty if nothing was changed.
        total: seconds from the first log to the verdict.

    """

    name: str
    files: int
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    verdict: str = ""
    total: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the attempt as JSON values."""
        return asdict(self)


def tokens(text: str) -> int:
    """Return an approximate number of tokens: one for each five letters of a word, three digits, sign and newline.

    The vocabularies of language models hold most words of six letters, and pairs of signs, so this is rather too many.
    """
    return sum(_size(piece) for piece in _PIECE.findall(text))


def _size(piece: str) -> int:
    return math.ceil(len(piece) / (_DIGITS if piece.isdigit() else _LETTERS))


def named_command(answer: str) -> list[str]:
    """Return the words of the command that the last line of an answer names; empty if it names none."""
    found = _NEXT.findall(answer)
    return shlex.split(found[-1]) if found else []


def attempt(program: Program) -> Attempt:
    """Repair a program in a copy, and verify it against the original."""
    made = Attempt(program.name, program.files)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="devfix-agents-") as folder:
        original, repaired = Path(folder, "original"), Path(folder, "repaired")
        for tree in (original, repaired):
            shutil.copytree(program.tree, tree, ignore=shutil.ignore_patterns("__pycache__"))
        log = _first_log(program, original)
        while log and len(made.commands) < _MOST_ANSWERS:
            log = _repair(program, made, original, repaired, log)
    made.total = time.monotonic() - started
    return made


def _repair(program: Program, made: Attempt, original: Path, repaired: Path, log: str) -> str:
    """Ask once, do what the answer names, and verify; return the log of the next error, empty if there is none."""
    began = time.monotonic()
    answer = _devfix(repaired, "diagnose", "--output-format", "agent", text=log)
    made.seconds.append(time.monotonic() - began)
    made.tokens.append(tokens(answer))
    words = named_command(answer)
    if words[1:2] != ["apply"]:
        return ""
    words = [each for word in words[1:] for each in (program.case["args"] if word == "ARGS" else [word])]
    made.commands.append(shlex.join(["devfix", *words]))
    _devfix(repaired, *words)
    if not _differs(original, repaired):
        return ""
    command = ("verify", program.case["script"], "--project", ".", "--device", "sim", "--patched", str(repaired))
    proof = json.loads(_devfix(original, *command, "--output-format", "json", "--", *program.case["args"]))
    made.verdict = proof["verdict"]
    failure = proof["runs"].get("patched/device", {}).get("failure")
    return failure["traceback"] if made.verdict != "fixed" and failure is not None else ""


def _first_log(program: Program, tree: Path) -> str:
    """Return what the program prints when it fails on the simulated accelerator."""
    from devfix.verify import run

    made = run(program.case["script"], program.case["args"], "sim", tree)
    return "" if made.failure is None else f"{made.output}\n{made.failure.traceback}"


def _differs(original: Path, repaired: Path) -> bool:
    return any(
        path.read_bytes() != (repaired / path.relative_to(original)).read_bytes() for path in original.rglob("*.py")
    )


def _devfix(folder: Path, *arguments: str, text: str = "") -> str:
    """Run devfix in a folder, and return its standard output."""
    environment = {**os.environ, "DEVFIX_AGENT": "0", "PYTHONPATH": str(_ROOT)}
    safe_path = ["-P"] if sys.version_info >= (3, 11) else []
    command = [sys.executable, *safe_path, "-m", "devfix", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{shlex.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
