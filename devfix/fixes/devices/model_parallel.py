"""Model parallelism: programs with modules on several accelerators."""

from __future__ import annotations

import ast

from devfix.analysis import Observations
from devfix.analysis.domain.objects import Module
from devfix.analysis.domain.values import ACCELERATOR, OTHER_ACCELERATOR, Device
from devfix.analysis.scenarios import device_argument_of, literal_device

__all__ = ["is_model_parallel"]


def is_model_parallel(observations: Observations) -> bool:
    """Whether the program is model parallel: its modules are on two accelerators on purpose."""
    scenario = observations.multi_accelerator
    if scenario is None or scenario.is_distributed or _is_stray_index(observations, scenario):
        return False
    if _names_two_accelerators(scenario):
        return True
    devices_of_modules: set[Device] = set()
    for mismatch in scenario.mismatches:
        state = mismatch.point.state
        objects = [] if state is None else [obj for _, obj in state.heap_objects()]
        for obj in objects:
            if isinstance(obj, Module) and obj.weights and len(obj.devices) == 1:
                devices_of_modules |= obj.devices
        if devices_of_modules >= {ACCELERATOR, OTHER_ACCELERATOR}:
            return True
    return False


def _is_stray_index(observations: Observations, scenario: Observations) -> bool:
    """Whether a program that chooses its device moves modules, and never a tensor, to one literal index.

    A model-parallel program also moves tensors between its accelerators; here one line conflicts with the others.
    """
    if observations.foreign_index is None:
        return False
    assignments = [
        devices[OTHER_ACCELERATOR] for devices in scenario.device_assignments.values() if OTHER_ACCELERATOR in devices
    ]
    with_arguments = [(assignment, device_argument_of(assignment.call)) for assignment in assignments]
    return bool(with_arguments) and all(
        assignment.source is None
        and device_argument is not None
        and literal_device(device_argument) == observations.foreign_index
        for assignment, device_argument in with_arguments
    )


def _names_two_accelerators(scenario: Observations) -> bool:
    """Whether modules are moved to two accelerators, each with an explicit device."""
    destinations = {
        device
        for call, devices in scenario.device_assignments.items()
        for device, assignment in devices.items()
        if assignment.source is None and isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cuda")
        if call.args or call.keywords
    }
    return destinations >= {ACCELERATOR, OTHER_ACCELERATOR}
