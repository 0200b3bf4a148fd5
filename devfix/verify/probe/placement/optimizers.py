"""Optimizers: where what they hold lives, and state that is elsewhere than its parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from ..provenance.histories import tensors_in
from .tensors import Places, count, describe

__all__ = ["held", "optimizer", "scaler", "states"]

_MOST_STRAYS = 50


def held(found: Any) -> list[Tensor]:
    """The parameters of an optimizer; none of a wrapper that is one by name only."""
    groups = vars(found).get("param_groups") or ()
    return [each for group in groups for each in group.get("params", ()) if isinstance(each, Tensor)]


def states(found: Any) -> Iterator[tuple[Tensor | None, str, Tensor]]:
    """Parameter (None where the state is of no tensor), key and tensor of each state."""
    kept = vars(found).get("state")
    for parameter, state in list(kept.items()) if isinstance(kept, dict) else ():
        owner = parameter if isinstance(parameter, Tensor) else None
        for key, value in state.items() if isinstance(state, dict) else ():
            for tensor in tensors_in([value]):
                yield owner, str(key), tensor


def optimizer(
    found: Any, name: str, names: dict[int, str], place_of: Callable[[Tensor], str], stepped: bool
) -> dict[str, Any]:
    """An optimizer as JSON.

    State without dimensions is left out: step counters stay on the CPU unless the optimizer is capturable or fused
    (``_init_group`` in torch/optim/adam.py).
    """
    strays: list[dict[str, Any]] = []
    for owner, key, tensor in states(found):
        home = None if owner is None else place_of(owner)
        if home is not None and tensor.dim() and place_of(tensor) != home and len(strays) < _MOST_STRAYS:
            about = {"parameter": names.get(id(owner), "a parameter"), "key": key, "parameter_place": home}
            strays.append({**about, **describe(tensor, place_of)})
    kept: Places = count((tensor for _, _, tensor in states(found) if tensor.dim()), place_of)
    return {
        "name": name,
        "type": type(found).__name__,
        "stepped": stepped,
        "parameters": count(held(found), place_of),
        "state": kept,
        "strays": strays,
    }


def scaler(found: Any, name: str, place_of: Callable[[Tensor], str]) -> dict[str, Any]:
    """A gradient scaler as JSON; it makes its scale where the first loss is."""
    scale = getattr(found, "_scale", None)
    place = place_of(scale) if isinstance(scale, Tensor) else None
    return {"name": name, "type": type(found).__name__, "place": place, "enabled": bool(getattr(found, "_enabled", 1))}
