"""Results of modules: where one path returns a tensor on the accelerator, unknown results of other paths are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Container, Mapping, Opaque, object_at
from devfix.analysis.domain.values import ACCELERATOR, Pointer, Tensor, TupleValue, Union, Unknown, Value, join
from devfix.analysis.stdlib import numpy_

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["settle"]

_MOST_DEPTH = 3


def settle(interp: Interpreter, value: Value, depth: int = 0) -> Value:
    """Return the result of ``forward`` without alternatives that nothing is known of.

    A module returns the same kind of thing on each path: of backends, one may be followed, and the others may be
    libraries that cannot be read.  Unknown results stay if no path returns a tensor on the accelerator, or if one
    returns a tensor on another device or a NumPy array, and in code that no program calls: what is unknown there may be
    an argument.
    """
    if depth > _MOST_DEPTH or interp.observations.is_library:
        return value
    match value:
        case Union(alternatives):
            settled = [settle(interp, option, depth) for option in alternatives]
            tensors = [option for option in settled if isinstance(option, Tensor) and option.device.known]
            if not tensors or any(tensor.device != ACCELERATOR or not tensor.is_certain for tensor in tensors):
                return value
            if any(isinstance(option, Unknown) and numpy_.is_of_numpy(option) for option in settled):
                return value
            return join(option for option in settled if not _is_unknown(interp, option))
        case TupleValue(items):
            return TupleValue(tuple(settle(interp, item, depth + 1) for item in items))
        case Pointer():
            _settle_items(interp, value, depth)
    return value


def _settle_items(interp: Interpreter, pointer: Pointer, depth: int) -> None:
    """Settle the items of a list that the module returns."""
    items = object_at(interp, pointer, Container)
    if items is None or isinstance(items, Mapping):
        return
    fields = {name: settle(interp, item, depth + 1) for name, item in items.fields.items()}
    rest = settle(interp, items.default_item, depth + 1) if items.default_item is not None else None
    if fields != items.fields or rest != items.default_item:
        interp.now.update(pointer, fields=fields, default_item=rest)


def _is_unknown(interp: Interpreter, value: Value) -> bool:
    if isinstance(value, Tensor):
        return not value.device.known
    return isinstance(value, Unknown) or object_at(interp, value, Opaque) is not None
