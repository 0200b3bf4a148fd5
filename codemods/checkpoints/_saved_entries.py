"""Entries of the dictionaries that the program saves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Mapping, object_at
from devfix.analysis.domain.values import Tensor, Value, alternatives
from devfix.analysis.observations import Subscription
from devfix.analysis.observations.execution import CheckpointSaved

if TYPE_CHECKING:
    from devfix.analysis import Interpreter, Observations

__all__ = ["SUBSCRIPTIONS", "saved_tensors"]


@dataclass(frozen=True)
class SavedEntry:
    """An entry of a saved dictionary; ``is_tensor`` says that it is a tensor with dimensions."""

    key: str
    is_tensor: bool


def saved_tensors(observations: Observations) -> set[str]:
    """Return the keys of the entries that are always tensors with dimensions."""
    entries = observations.of(SavedEntry)
    return {entry.key for entry in entries} - {entry.key for entry in entries if not entry.is_tensor}


def _note_entries(interp: Interpreter, saved: CheckpointSaved) -> None:
    for option in alternatives(saved.value):
        mapping = object_at(interp, option, Mapping)
        if mapping is not None:
            for key, value in mapping.fields.items():
                interp.observations.record(SavedEntry(key, _has_dimensions(value)))


def _has_dimensions(value: Value) -> bool:
    """Return whether an entry is a tensor with dimensions; alternatives from an earlier checkpoint do not count."""
    saved = [option for option in alternatives(value) if not (isinstance(option, Tensor) and _is_loaded(option))]
    return bool(saved) and all(
        isinstance(o, Tensor) and o.is_certain and not (o.maybe_container or o.maybe_zero_dim) for o in saved
    )


def _is_loaded(value: Tensor) -> bool:
    return any(origin.kind == "load" for origin in value.origins)


SUBSCRIPTIONS = (Subscription(CheckpointSaved, _note_entries),)
