"""The device that a proof is made on, and why that one."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from devfix.verify.records import REAL_DEVICES, RunError
from devfix.verify.servers import ServerDied, about

__all__ = ["CHOICES", "Target", "choose_target"]

#: ``sim`` is short for ``sim:cuda``.
CHOICES = ("auto", *REAL_DEVICES, "sim", "sim:mps", "sim:xpu", "cpu")

_LOOKUP_SECONDS = 120
_QUESTIONS = {
    "cuda": "torch.cuda.is_available()",
    "mps": "torch.backends.mps.is_available()",
    "xpu": "hasattr(torch, 'xpu') and torch.xpu.is_available()",
}


class Target(NamedTuple):
    """``run_on`` is ``sim``, ``cpu`` or a real device's type; ``kind`` is that type, or what is simulated."""

    run_on: str
    kind: str
    why: str


def choose_target(wanted: str, python: str, texts: Iterable[str] = ()) -> Target:
    """The device for one of :data:`CHOICES`.

    ``auto`` is ``cuda`` where the interpreter's torch sees a CUDA device, else ``sim``: of the kind that the program's
    ``texts`` name where that is not CUDA.

    Raises:
        RunError: the interpreter has no torch, or does not see the real device that was asked for.

    """
    try:
        built_for_cuda = about(python)["cuda"] is not None
    except ServerDied as error:
        raise RunError(str(error)) from error
    if wanted == "auto":
        return _automatic(built_for_cuda and _sees("cuda", python), texts)
    name, _, kind = wanted.partition(":")
    if name in REAL_DEVICES:
        if not ((name != "cuda" or built_for_cuda) and _sees(name, python)):
            simulated = "sim" if name == "cuda" else f"sim:{name}"
            raise RunError(f"the torch of {python} sees no {name.upper()} device: --device {simulated} simulates one")
        kind = name
    return Target(name, kind or "cuda", f"--device {wanted}")


def _automatic(sees_cuda: bool, texts: Iterable[str]) -> Target:
    if sees_cuda:
        return Target("cuda", "cuda", "the interpreter's torch sees one")
    named = {kind for text in texts for kind in _QUESTIONS if re.search(rf"\b{kind}\b", text)}
    if len(named) == 1 and named != {"cuda"}:
        kind = named.pop()
        return Target(
            "sim", kind, f"the script names {kind} and no other, and the interpreter's torch sees no CUDA device"
        )
    return Target("sim", "cuda", "the interpreter's torch sees no CUDA device")


def _sees(kind: str, python: str) -> bool:
    """Asked in a process of its own: a process that has asked cannot be forked any more."""
    try:
        done = subprocess.run(
            [python, "-s", "-c", f"import torch; print({_QUESTIONS[kind]})"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LOOKUP_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip().endswith("True")
