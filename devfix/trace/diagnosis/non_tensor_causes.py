"""Causes of device errors in which no two tensors met: a file, a generator, a device that is not there."""

from __future__ import annotations

from devfix.trace.call_syntax import call_at, takes_map_location
from devfix.trace.diagnosis.causes import NO_RULE, Cause
from devfix.trace.names import expression
from devfix.trace.story import Story

__all__ = ["cause_without_values", "meaning"]

#: What a message of each family means, and the rule whose cause it mostly is.
_FAMILIES: dict[str, tuple[str, str]] = {
    "load": ("DEV301", "a file holds tensors of an accelerator that is not there, and was read as it was saved"),
    "generator": ("DEV603", "a generator of random numbers belongs to another device than the numbers that it draws"),
    "absent": ("DEV501", "a device is asked for that this machine, or this build of PyTorch, does not have"),
    "ordinal": ("DEV501", "an accelerator is asked for by a number that this machine does not have"),
    "fused": ("DEV401", "a fused or capturable optimizer was given parameters, or state, that are on the CPU"),
    "parallel": ("DEV204", "a module was wrapped for several devices before it was on its own"),
    "group": (NO_RULE, "a tensor of one device was given to a process group that serves another"),
    "rng-state": ("DEV301", "the state of a random number generator is a tensor of the CPU, and was loaded elsewhere"),
    "numpy": ("DEV601", "NumPy reads the CPU's memory only, and was given a tensor of an accelerator"),
    "cpu-only": ("DEV602", "an operation takes a tensor of the CPU only, and was given one of an accelerator"),
    "pack": ("DEV602", "the lengths of packed sequences have to be on the CPU, and are on the accelerator"),
    "pin": ("DEV602", "only memory of the CPU can be pinned, and the tensor is on the accelerator"),
    "split": ("DEV602", "the sizes or places of a split have to be on the CPU"),
    "grad": (NO_RULE, "a gradient was assigned to a tensor on another device"),
    "engine": (NO_RULE, "a backward function returned a gradient on another device than its input"),
    "index": (NO_RULE, "an index is on the accelerator, and what it indexes is on the CPU"),
    "recurrent": (NO_RULE, "the hidden state of a recurrent layer is not where its input is"),
    "foreach": ("DEV401", "an optimizer's parameters, gradients and state are not on the same device"),
}
_MEETING = "two values of one operation are on different devices, mostly one on the CPU"


def meaning(family: str) -> str:
    """What a message of a family means, in a clause."""
    return _FAMILIES.get(family, (NO_RULE, _MEETING))[1]


def cause_without_values(story: Story) -> Cause:
    """The cause of a device error of which no value is known, from its family and from the call that failed."""
    rule, _ = _FAMILIES.get(story.family or "", (NO_RULE, ""))
    where = story.where
    if story.family == "load" and takes_map_location(call_at(where)):
        rule = "DEV302"
    return Cause(rule, f"`{expression(where)}` at {where}: {meaning(story.family or '')}.", story.package)
