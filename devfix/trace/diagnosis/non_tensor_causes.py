"""Causes of device errors without conflicting tensors: a checkpoint, a generator, a missing device."""

from __future__ import annotations

import re

from devfix.trace.call_syntax import call_at, has_map_location
from devfix.trace.diagnosis.context import Cause
from devfix.trace.failure_trace import FailureTrace, Generator
from devfix.trace.names import device_noun, expression

__all__ = ["cause_without_values", "meaning"]

#: The most frequent cause of each family of error messages, and the meaning of the messages.
_FAMILIES: dict[str, tuple[str, str]] = {
    "load": (
        "loaded-without-map-location",
        "a checkpoint holds tensors of an accelerator that is not available, and is loaded without remapping",
    ),
    "generator": ("generator-on-other-device", "a random number generator is on another device than its samples"),
    "absent": ("missing-accelerator", "the device is not available on this machine, or in this build of PyTorch"),
    "ordinal": ("missing-device-index", "this machine has no accelerator with this index"),
    "fused": (
        "fused-optimizer-on-cpu",
        "a fused or capturable optimizer was given parameters or state that are on the CPU",
    ),
    "parallel": ("wrapped-before-move", "a module was wrapped for data parallelism before it was moved to its device"),
    "group": ("process-group-mismatch", "a tensor was passed to a process group that serves another device type"),
    "rng-state": (
        "rng-state-on-accelerator",
        "the state of a random number generator must be a CPU tensor, and was loaded onto another device",
    ),
    "numpy": ("numpy-reads-accelerator", "NumPy reads the CPU's memory only, and was given an accelerator tensor"),
    "cpu-only": ("cpu-only-operand", "an operation requires a CPU tensor, and was given an accelerator tensor"),
    "pack": ("cpu-only-operand", "the lengths of packed sequences must be on the CPU, and are on the accelerator"),
    "pin": ("cpu-only-operand", "only CPU memory can be pinned, and the tensor is on the accelerator"),
    "split": ("cpu-only-operand", "the sizes or indices of a split must be on the CPU"),
    "grad": ("gradient-mismatch", "a gradient was assigned to a tensor on another device"),
    "engine": ("gradient-mismatch", "a backward function returned a gradient on another device than its input"),
    "index": ("index-mismatch", "an index is on the accelerator, and the indexed tensor is on the CPU"),
    "recurrent": (
        "hidden-state-mismatch",
        "the hidden state and the input of a recurrent layer are on different devices",
    ),
    "foreach": (
        "foreach-optimizer-mismatch",
        "an optimizer's parameters, gradients and state are on different devices",
    ),
}
_OTHER = ("unclassified", "two operands of an operation are on different devices, in most cases one on the CPU")


def meaning(family: str) -> str:
    """Return the meaning of a family's messages, as a clause."""
    return _FAMILIES.get(family, _OTHER)[1]


def cause_without_values(failure: FailureTrace) -> Cause:
    """Return the cause of a device error without known operands, from its family and the failing call."""
    name, clause = _FAMILIES.get(failure.family or "", _OTHER)
    where = failure.where
    if failure.family == "load" and has_map_location(call_at(where)):
        name = "loaded-with-map-location"
    if failure.family == "generator" and failure.generator is not None:
        clause = _generator_clause(failure, failure.generator)
    return Cause(name, f"`{expression(where)}` at {where}: {clause}.", failure.package)


def _generator_clause(failure: FailureTrace, generator: Generator) -> str:
    """Return where the generator of a failed call comes from, and the device of its samples."""
    expected = re.search(r"Expected an? '([a-z]+)'", failure.message)
    name = f"`{generator.names[0].text}`" if generator.names else "its random number generator"
    created = generator.stack[0] if generator.stack else None
    if created is not None and created != failure.where:
        name += f", created at {created} by `{expression(created)}`,"
    samples = f"the samples are on {expected[1]}" if expected else "the samples are on another device"
    default = failure.default_device
    if default is not None and default.stack and expected and default.device.startswith(expected[1]):
        setting = default.stack[0]
        samples += f", the default device since `{expression(setting)}` at {setting}"
    return f"{name} is on {device_noun(generator.device)}, and {samples}"
