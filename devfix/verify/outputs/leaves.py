"""Flat leaves of nested values: JSON documents and unpickled objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from devfix.verify.outputs.pickles import Global, Object, Pairs
from devfix.verify.outputs.values import Array, Value, array_of_bytes, array_of_numbers

__all__ = ["TooManyLeaves", "flatten"]

MOST_LEAVES = 20_000
MOST_NODES = 200_000
DEEPEST = 60

#: Bits of the largest integer that is compared as a number.
_WIDEST_INTEGER = 128

#: Lists of at least as many numbers become one array.
_LONG_LIST = 256


#: The attributes in which ``torch.nn.Module`` keeps other attributes.
_MODULE_STATE = frozenset({"_parameters", "_buffers", "_modules"})


class TooManyLeaves(Exception):
    """The value has too many leaves, or is nested too deeply."""


def flatten(value: Any, expand: Callable[[Object], Any] | None = None) -> dict[str, Value]:
    """Return the leaves of a nested value by their path, as ``state.fc.weight`` or ``history[3].loss``.

    Args:
        value: as :mod:`json` or :mod:`devfix.verify.outputs.pickles` returns it.
        expand: returns a simpler value for an object that it knows, else the object itself.

    Raises:
        TooManyLeaves: the value is too large.

    """
    found: dict[str, Value] = {}
    same: Counter[str] = Counter()
    nodes = count()
    # A stack instead of recursion, in reverse order: the leaves come in the order of the document.
    waiting: list[tuple[str, Any, int]] = [("", value, 0)]
    while waiting:
        path, each, depth = waiting.pop()
        if depth > DEEPEST:
            raise TooManyLeaves("it is nested too deeply")
        if next(nodes) > MOST_NODES or len(found) > MOST_LEAVES:
            raise TooManyLeaves("it has too many values")
        if isinstance(each, Object) and expand is not None:
            each = expand(each)
        inner = _children(each)
        if inner is None:
            same[path] += 1
            found[path if same[path] == 1 else f"{path} ({same[path]})"] = _leaf(each)
        else:
            waiting.extend([(_joined(path, key), child, depth + 1) for key, child in inner][::-1])
    return found


def _joined(path: str, key: str) -> str:
    return f"{path}{key}" if not path or not key or key.startswith("[") else f"{path}.{key}"


def _children(value: Any) -> Iterable[tuple[str, Any]] | None:
    """Return the children of a node with their keys; None for a leaf."""
    if isinstance(value, Mapping):
        return [(str(key), child) for key, child in value.items()]
    if isinstance(value, Pairs):
        return [(_key(key), child) for key, child in value.items]
    if isinstance(value, Global):
        return None
    if isinstance(value, (list, tuple)):
        if len(value) >= _LONG_LIST and all(type(each) in (int, float) for each in value):
            return None
        return [(f"[{number}]", child) for number, child in enumerate(value)]
    if isinstance(value, Object):
        return _parts(value)
    return None


def _parts(value: Object) -> list[tuple[str, Any]]:
    items = value.contents
    if value.name in ("builtins.set", "builtins.frozenset"):
        items = sorted(items, key=lambda item: repr(item) if isinstance(item, (str, int, float)) else "")
    arguments = value.arguments if isinstance(value.arguments, tuple) else ()
    parts: list[tuple[str, Any]] = [("", each) for each in arguments]
    if _is_module(value.state):
        parts += _parts_of_module(value.state)
    elif isinstance(value.state, tuple) and len(value.state) == 2 and all(_is_state(each) for each in value.state):
        parts += [("", each) for each in value.state]  # attributes, and those in slots
    elif value.state is not None:
        parts.append(("", value.state))
    parts += [(f"[{number}]", each) for number, each in enumerate(items)]
    parts += [(_key(key), each) for key, each in value.pairs]
    return parts or [("", value.name)]


def _is_module(state: Any) -> bool:
    return isinstance(state, Pairs) and {key for key, _ in state.items if isinstance(key, str)} >= _MODULE_STATE


def _parts_of_module(state: Pairs) -> list[tuple[str, Any]]:
    """Return the attributes of a pickled module; a tensor has one name, whether or not it is a registered buffer.

    Hooks are numbered: their keys count all hooks that the process has registered so far, also those of others.
    """
    return [
        ("" if key in _MODULE_STATE else _key(key), _without_keys(child) if "_hooks" in _key(key) else child)
        for key, child in state.items
        if key != "_non_persistent_buffers_set"
    ]


def _without_keys(value: Any) -> Any:
    """Return the values of a dictionary, in its order; other values as they are."""
    if isinstance(value, Pairs):
        return [each for _, each in value.items]
    return [each for _, each in value.pairs] if isinstance(value, Object) and value.pairs else value


def _is_state(value: Any) -> bool:
    return value is None or isinstance(value, Pairs)


def _key(key: Any) -> str:
    if isinstance(key, (str, int, float, bool)) or key is None:
        return str(key)
    return "(key)"


def _leaf(value: Any) -> Value:
    if isinstance(value, (bytes, bytearray)):
        return array_of_bytes(bytes(value))
    if isinstance(value, Global):
        return value.name
    if isinstance(value, int) and value.bit_length() > _WIDEST_INTEGER:
        return hex(value)
    if isinstance(value, (list, tuple)):
        return array_of_numbers(value)
    if isinstance(value, (Array, str, bool, int, float)) or value is None:
        return value
    return type(value).__name__
