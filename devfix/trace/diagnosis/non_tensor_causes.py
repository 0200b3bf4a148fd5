"""Causes of device errors without conflicting tensors: a checkpoint, a generator, a missing device."""

from __future__ import annotations

import re

from devfix.trace.call_syntax import call_at, has_map_location
from devfix.trace.diagnosis.context import Cause
from devfix.trace.failure_trace import FailureTrace, Generator
from devfix.trace.names import device_noun, expression
from devfix.verify.probe.messages import FAMILIES, MISMATCH

__all__ = ["cause_without_values"]


def cause_without_values(failure: FailureTrace) -> Cause:
    """Return the cause of a device error without known operands, from its family and the failing call."""
    family = FAMILIES.get(failure.family or "", FAMILIES[MISMATCH])
    name, clause = family.cause, family.meaning
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
