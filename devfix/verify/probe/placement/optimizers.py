"""Optimizers: devices of their parameters, and state on another device than its parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from ..provenance.histories import tensors_in
from .tensors import DeviceCounts, count_tensors, describe_tensor

__all__ = ["describe_optimizer", "describe_scaler", "parameters_of", "state_tensors"]

_MAX_MISPLACED = 50


def parameters_of(found: Any) -> list[Tensor]:
    """Return an optimizer's parameters; empty for a wrapper without parameter groups."""
    groups = vars(found).get("param_groups") or ()
    return [each for group in groups for each in group.get("params", ()) if isinstance(each, Tensor)]


def state_tensors(found: Any) -> Iterator[tuple[Tensor | None, str, Tensor]]:
    """Yield parameter (None if the key is not a tensor), key and tensor of each state."""
    state_devices = vars(found).get("state")
    for parameter, state in list(state_devices.items()) if isinstance(state_devices, dict) else ():
        owner = parameter if isinstance(parameter, Tensor) else None
        for key, value in state.items() if isinstance(state, dict) else ():
            for tensor in tensors_in([value]):
                yield owner, str(key), tensor


def describe_optimizer(
    found: Any, name: str, names: dict[int, str], device_of: Callable[[Tensor], str], stepped: bool
) -> dict[str, Any]:
    """Return an optimizer as JSON.

    0-dim state is omitted: step counters stay on the CPU unless the optimizer is capturable or fused
    (``_init_group`` in torch/optim/adam.py).
    """
    misplaced: list[dict[str, Any]] = []
    for owner, key, tensor in state_tensors(found):
        parameter_device = None if owner is None else device_of(owner)
        if (
            parameter_device is not None
            and tensor.dim()
            and device_of(tensor) != parameter_device
            and len(misplaced) < _MAX_MISPLACED
        ):
            about = {"parameter": names.get(id(owner), "a parameter"), "key": key, "parameter_place": parameter_device}
            misplaced.append({**about, **describe_tensor(tensor, device_of)})
    state_devices: DeviceCounts = count_tensors(
        (tensor for _, _, tensor in state_tensors(found) if tensor.dim()), device_of
    )
    return {
        "name": name,
        "type": type(found).__name__,
        "stepped": stepped,
        "parameters": count_tensors(parameters_of(found), device_of),
        "state": state_devices,
        "strays": misplaced,
    }


def describe_scaler(found: Any, name: str, device_of: Callable[[Tensor], str]) -> dict[str, Any]:
    """Return a gradient scaler as JSON; it creates its scale on the first loss's device."""
    scale = getattr(found, "_scale", None)
    device = device_of(scale) if isinstance(scale, Tensor) else None
    return {"name": name, "type": type(found).__name__, "place": device, "enabled": bool(getattr(found, "_enabled", 1))}
