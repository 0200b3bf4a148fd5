"""Machines by name: ``cpu``, ``cuda``, ``2xcuda``, ``mps``, ``sim:xpu``."""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

__all__ = ["KINDS", "Machine", "UnknownMachine", "parse_machines"]

#: Types of accelerators, and ``cpu`` for a machine without one.
KINDS = ("cpu", "cuda", "mps", "xpu", "npu")

_NOT_SIMULATED = ("hpu", "tpu", "xla")
_MOST_DEVICES = 16
_NAME = re.compile(r"(?:(?P<sim>sim):)?(?:(?P<count>\d+)x)?(?P<kind>[a-z]+)")


class UnknownMachine(ValueError):
    """A name that is no machine; the message says which names there are."""


class Machine(NamedTuple):
    """A machine to run on.

    Attributes:
        name: as it was given.
        kind: one of :data:`KINDS`.
        devices: number of accelerators; 1 for ``cpu``.
        must_simulate: simulate the accelerator even if there is a real one.

    """

    name: str
    kind: str
    devices: int = 1
    must_simulate: bool = False


def parse_machines(text: str) -> tuple[Machine, ...]:
    """Return the machines of a list that is separated by commas, each once.

    Raises:
        UnknownMachine: the list is empty, or a name is unknown.

    """
    found = {name: _machine(name) for name in (part.strip().lower() for part in text.split(",")) if name}
    if not found:
        raise UnknownMachine(f"no machine is named; {_known()}")
    return tuple(found.values())


def _machine(name: str) -> Machine:
    parts = _NAME.fullmatch(name)
    if parts is not None and parts["kind"] in _NOT_SIMULATED:
        raise UnknownMachine(f"{name!r}: there is no simulated {parts['kind'].upper()}; {_known()}")
    if parts is None or parts["kind"] not in KINDS:
        near = difflib.get_close_matches(parts["kind"] if parts else name, KINDS, 1)
        raise UnknownMachine(f"{name!r} is no machine{f'; did you mean {near[0]}?' if near else ''}; {_known()}")
    count, kind = int(parts["count"] or 1), parts["kind"]
    if kind == "cpu" and (parts["count"] or parts["sim"]):
        raise UnknownMachine(f"{name!r} is no machine: cpu has no accelerator; {_known()}")
    if kind == "mps" and count > 1:
        raise UnknownMachine(f"{name!r} is no machine: MPS has one device; {_known()}")
    if not 1 <= count <= _MOST_DEVICES:
        raise UnknownMachine(f"{name!r} is no machine: the number of devices is 1 to {_MOST_DEVICES}")
    return Machine(name, kind, count, must_simulate=parts["sim"] is not None)


def _known() -> str:
    return f"machines are {', '.join(KINDS)}, 2xcuda for two devices, and sim:cuda for a simulated one"
