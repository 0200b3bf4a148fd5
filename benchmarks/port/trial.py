"""One pair: ported by devfix, run on each device, and compared with the maintainers' commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.port.catalogue import STUBS, Pair, neutral
from benchmarks.port.mirrors import unpack
from benchmarks.port.places import count_places
from devfix.verify.proof import prove
from devfix.verify.runs import run

__all__ = ["Trial", "measure"]

TIMEOUT = 180.0
DEVICES = ("cpu", "cuda", "mps", "xpu")


@dataclass
class Trial:
    """What was measured of a pair.

    Attributes:
        pair: its name.
        places: number of places before, after devfix, and after the maintainers' commit (None without one).
        port_exit: exit code of ``devfix port``; 0 or 1 if it did its work.
        edited: number of files that it changed.
        runs: by side (``before``, ``devfix``, ``maintainers``) and device, how the driver ended: ``ok`` (on the
            accelerator, if there is one), ``ok, on the CPU``, or the error.
        status, reason: the verdict on the ported tree on simulated CUDA, compared with the original there.
        losses, steps: number of losses and optimizer steps that were compared.
        seconds: time that ``devfix port`` took.

    """

    pair: str
    places: dict[str, int | None] = field(default_factory=dict)
    port_exit: int = 0
    edited: int = 0
    runs: dict[str, dict[str, str]] = field(default_factory=dict)
    status: str = ""
    reason: str = ""
    losses: int = 0
    steps: int = 0
    seconds: float = 0.0

    @property
    def is_valid(self) -> bool:
        """Whether the original runs on CUDA and fails without it: there is something to port."""
        before = self.runs.get("before", {})
        return before.get("cuda") == "ok" and not before.get("cpu", "").startswith("ok")

    @property
    def runs_on_cpu(self) -> bool:
        """Whether the ported driver runs on a machine without an accelerator."""
        return self.runs.get("devfix", {}).get("cpu", "").startswith("ok")

    @property
    def is_proved(self) -> bool:
        """Whether the ported program runs on the CPU, and computes the same as before on simulated CUDA.

        ``fixed``: the original meets an error there that it catches, the ported program does not, and all losses agree.
        """
        return self.is_valid and self.runs_on_cpu and self.status in ("no-error", "fixed")

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {**asdict(self), "proved": self.is_proved, "valid": self.is_valid}


def measure(pair: Pair, folder: Path, port_options: tuple[str, ...] = (), devices: tuple[str, ...] = DEVICES) -> Trial:
    """Return the measurement of a pair, made in a new folder.

    Raises:
        FileNotFoundError: if the repository's git directory is missing.
        RuntimeError: if a commit cannot be read.

    """
    trial = Trial(pair.name)
    before, ported, after = (folder / name for name in ("before", "ported", "after"))
    unpack(pair.repository, pair.before, before)
    _place(pair, before, lambda text: text)
    shutil.copytree(before, ported)
    started = time.monotonic()
    trial.port_exit = _port(ported, folder / "cache", port_options)
    trial.seconds = time.monotonic() - started
    trial.edited = sum(_text(path) != _text(before / path.relative_to(ported)) for path in ported.rglob("*.py"))
    trial.places = {"before": _count(pair, before), "devfix": _count(pair, ported), "maintainers": None}
    _add_stubs(pair, before)
    _add_stubs(pair, ported)
    steps = pair.max_steps or None
    verdict = prove(before, ported, pair.script, timeout=TIMEOUT, max_steps=steps, run_on="sim", start=pair.folder)
    trial.status, trial.reason = verdict.status, verdict.reason
    patched = verdict.runs["patched/device"]
    trial.losses, trial.steps = len(patched.losses), patched.steps
    trial.runs["before"] = {
        "cpu": _ending(verdict.runs["original/cpu"]),
        "cuda": _ending(verdict.runs["original/device"]),
    }
    trial.runs["devfix"] = {"cpu": _ending(verdict.runs["patched/cpu"]), "cuda": _ending(patched)}
    trial.runs["devfix"] |= _run_on(pair, ported, [each for each in devices if each in ("mps", "xpu")])
    if pair.after:
        unpack(pair.repository, pair.after, after)
        _place(pair, after, neutral)
        trial.places["maintainers"] = _count(pair, after)
        _add_stubs(pair, after)
        trial.runs["maintainers"] = _run_on(pair, after, ["cpu", *(each for each in devices if each != "cpu")])
    return trial


def _place(pair: Pair, tree: Path, change: Callable[[str], str]) -> None:
    text = pair.driver.read_text(encoding="utf-8")
    (tree / pair.folder).mkdir(parents=True, exist_ok=True)
    (tree / pair.script).write_text(change(text), encoding="utf-8")


def _add_stubs(pair: Pair, tree: Path) -> None:
    """Put stubs beside the driver, once the tree is ported: they are no part of the program."""
    for name in pair.stubs:
        path = (tree / pair.folder).joinpath(*name.split("."))
        specific = STUBS / f"{name}.py"
        path.mkdir(parents=True, exist_ok=True)
        shutil.copy(specific if specific.exists() else STUBS / "anything.py", path / "__init__.py")


def _port(tree: Path, cache: Path, options: tuple[str, ...]) -> int:
    command = [sys.executable, "-m", "devfix", "port", "--isolated", "-j", "1", *options]
    env = {**os.environ, "DEVFIX_CACHE_DIR": str(cache)}
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, check=False).returncode


def _text(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _count(pair: Pair, tree: Path) -> int:
    texts = (_text(tree / name).decode("utf-8", errors="replace") for name in pair.files)
    return sum(count_places(text) for text in texts)


def _run_on(pair: Pair, tree: Path, devices: list[str]) -> Mapping[str, str]:
    def once(device: str) -> str:
        kind = "cuda" if device == "cpu" else device
        on = "cpu" if device == "cpu" else "sim"
        steps = pair.max_steps or None
        return _ending(run(pair.script, (), on, tree, TIMEOUT, max_steps=steps, start=pair.folder, kind=kind))

    return {device: once(device) for device in devices}


def _ending(made: Any) -> str:
    if not made.ok:
        return str(made.outcome)
    return "ok" if made.device == "cpu" or made.device_operations else "ok, on the CPU"
