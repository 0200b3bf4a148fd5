"""Choice of the device for a verification, with its reason."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from devfix.verify.records import REAL_DEVICES, RunError
from devfix.verify.servers import ServerDied, interpreter_info

__all__ = ["CHOICES", "Target", "choose_target"]

#: ``sim`` is short for ``sim:cuda``.
CHOICES = ("auto", *REAL_DEVICES, "sim", "sim:mps", "sim:xpu", "sim:npu", "cpu")

_LOOKUP_SECONDS = 120
_AVAILABILITY_CHECKS = {
    "cuda": "torch.cuda.is_available()",
    "mps": "torch.backends.mps.is_available()",
    "xpu": "hasattr(torch, 'xpu') and torch.xpu.is_available()",
    "npu": "hasattr(torch, 'npu') and torch.npu.is_available()",
}


class Target(NamedTuple):
    """``run_on`` is ``sim``, ``cpu`` or a real device's type; ``kind`` is the type of the real or simulated device."""

    run_on: str
    kind: str
    why: str


def choose_target(device: str, python: str, texts: Iterable[str] = ()) -> Target:
    """Return the device for one of :data:`CHOICES`.

    ``auto`` is ``cuda`` if the interpreter's torch has a CUDA device, else ``sim`` with the only device type that the
    program's ``texts`` mention, ``cuda`` by default.

    Raises:
        RunError: the interpreter has no torch, or the requested device is not available.

    """
    try:
        built_for_cuda = interpreter_info(python)["cuda"] is not None
    except ServerDied as error:
        raise RunError(str(error)) from error
    if device == "auto":
        return _automatic(built_for_cuda and _is_available("cuda", python), texts)
    name, _, kind = device.partition(":")
    if name in REAL_DEVICES:
        if not ((name != "cuda" or built_for_cuda) and _is_available(name, python)):
            simulated = "sim" if name == "cuda" else f"sim:{name}"
            raise RunError(f"torch of {python} has no {name.upper()} device: simulate one with --device {simulated}")
        kind = name
    return Target(name, kind or "cuda", f"--device {device}")


def _automatic(has_cuda: bool, texts: Iterable[str]) -> Target:
    if has_cuda:
        return Target("cuda", "cuda", "the interpreter's torch has one")
    named = {kind for text in texts for kind in _AVAILABILITY_CHECKS if re.search(rf"\b{kind}\b", text)}
    if len(named) == 1 and named != {"cuda"}:
        kind = named.pop()
        return Target("sim", kind, f"the script uses {kind} only, and the interpreter's torch has no CUDA device")
    return Target("sim", "cuda", "the interpreter's torch has no CUDA device")


def _is_available(kind: str, python: str) -> bool:
    """Whether a device is available; query it in a subprocess, because CUDA cannot be used after a fork."""
    try:
        done = subprocess.run(
            [python, "-s", "-c", f"import torch; print({_AVAILABILITY_CHECKS[kind]})"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LOOKUP_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip().endswith("True")
