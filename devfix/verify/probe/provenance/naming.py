"""Names of values in the user's code, found by searching the objects reachable from the failing frames."""

from __future__ import annotations

import inspect
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

__all__ = ["Name", "Names", "reachable", "variables"]

_MAX_OBJECTS = 20_000
_MAX_ITEMS = 400
_MAX_DEPTH = 6
_MAX_NAMES = 6
_MAX_FRAMES = 8
_MAX_DEVICES = 12
_DEVICE = re.compile(r"(cuda|mps|xpu|npu)(:\d+)?")
_OPAQUE = (str, bytes, int, float, bool, type(None), ModuleType, FunctionType, MethodType, range)


class Name(NamedTuple):
    """An expression in frame ``frame`` (0 is the deepest one) whose value is the tensor, or shares its storage.

    ``exact`` is False if it only shares the storage.  ``kind`` is ``tensor``, ``parameter``, ``buffer`` or ``state``
    (an optimizer's).
    """

    frame: int
    text: str
    exact: bool
    kind: str


class Names:
    """All expressions for tensors that start at the variables of some frames.

    Args:
        frames: the deepest one first.
        history: returns the history of a tensor's storage.
        device_of: returns a tensor's device as a string, such as ``cuda:0``.

    """

    def __init__(
        self,
        frames: Iterable[FrameType],
        history: Callable[[Tensor], Any],
        device_of: Callable[[Tensor], str],
    ) -> None:
        self._history = history
        self._found: dict[int, list[tuple[Name, int]]] = {}
        self._devices: list[tuple[int, str, str]] = []
        self._deepest_tensors: list[tuple[str, Tensor]] = []
        self._generators: list[tuple[Name, Any]] = []
        for number, frame in enumerate(frames):
            for text, value, kind in reachable(variables(frame)):
                if isinstance(value, (torch.device, str)):
                    self._devices.append((number, text, str(value)))
                elif isinstance(value, torch.Generator):
                    self._generators.append((Name(number, text, exact=True, kind="generator"), value))
                elif isinstance(value, Tensor):
                    if text.isidentifier():
                        self._devices.append((number, f"{text}.device", device_of(value)))
                    if number == 0:
                        self._deepest_tensors.append((text, value))
                    name = Name(number, text, exact=False, kind=kind)
                    self._found.setdefault(id(history(value)), []).append((name, id(value)))

    def devices(self) -> list[tuple[int, str, str]]:
        """Return frame, expression and device for each device expression of the frames, the shortest first."""
        ranked = sorted(self._devices, key=lambda each: (each[0], each[1].count("."), len(each[1]), each[1]))
        return [each for number in range(_MAX_FRAMES) for each in [r for r in ranked if r[0] == number][:_MAX_DEVICES]]

    def mentioned(self, source: str) -> list[tuple[str, Tensor]]:
        """Return names and tensors of the deepest frame that appear in a piece of source."""
        patterns = (r"(?<![\w.])" + re.escape(text) + r"(?![\w\[])" for text, _ in self._deepest_tensors)
        return [each for each, pattern in zip(self._deepest_tensors, patterns) if re.search(pattern, source)]

    def of(self, tensor: Tensor) -> list[Name]:
        """Return names of a tensor and of tensors that share its storage, the best first."""
        return self._best(self._history(tensor), id(tensor))

    def of_generator(self, generator: Any) -> list[Name]:
        """Return names of a random number generator, the best first."""
        found = {name for name, value in self._generators if value is generator}
        return sorted(found, key=_rank)[:_MAX_NAMES]

    def with_history(self, history: Any) -> list[Name]:
        """Return names of the tensors with this history."""
        return self._best(history, 0)

    def _best(self, history: Any, identity: int) -> list[Name]:
        """Return the best names: prefer the tensor itself, optimizer state, the deepest frame, and short names."""
        if history is None:
            return []
        found = {name._replace(exact=known == identity) for name, known in self._found.get(id(history), [])}
        return sorted(found, key=_rank)[:_MAX_NAMES]


def _rank(name: Name) -> tuple[object, ...]:
    return not name.exact, name.kind != "state", name.frame, name.text.count("."), len(name.text), name.text


def variables(frame: FrameType) -> dict[str, Any]:
    """Return a frame's local variables, and the global ones that its code uses."""
    found = {name: value for name, value in frame.f_locals.items() if name.isidentifier()}
    for name in frame.f_code.co_names:
        if name in frame.f_globals:
            found.setdefault(name, frame.f_globals[name])
    return {name: value for name, value in found.items() if not name.startswith("__")}


def reachable(named: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield expression, value and kind of each object reachable from named values, in breadth-first order.

    Tensors and devices are yielded under each of their names; strings only if they name an accelerator.
    """
    pending: deque[tuple[str, Any, int, str]] = deque((name, value, 0, "tensor") for name, value in named.items())
    seen: set[int] = set()
    while pending and len(seen) < _MAX_OBJECTS:
        text, value, depth, kind = pending.popleft()
        if isinstance(value, Tensor):
            yield text, value, "parameter" if kind == "tensor" and isinstance(value, torch.nn.Parameter) else kind
            continue
        if isinstance(value, torch.device) or (isinstance(value, str) and _DEVICE.fullmatch(value)):
            yield text, value, kind
            continue
        if isinstance(value, _OPAQUE) or id(value) in seen:
            continue
        seen.add(id(value))
        yield text, value, kind
        if depth == _MAX_DEPTH:
            continue
        pending.extend((text + accessor, part, depth + 1, kind) for accessor, part, kind in _parts(value))


def _parts(value: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield accessor, value and kind of an object's parts, without calling user code."""
    if isinstance(value, type):
        attributes = vars(value).items() if value.__module__.split(".")[0] != "torch" else ()
        yield from ((f".{name}", part, "tensor") for name, part in attributes if isinstance(part, Tensor))
    elif isinstance(value, torch.nn.Module):
        yield from _parts_of_module(value)
    elif isinstance(value, torch.optim.Optimizer):
        for number, state in enumerate(list(value.state.values())[:_MAX_ITEMS]):
            for key, part in state.items() if isinstance(state, dict) else ():
                yield f".state[{number}][{key!r}]", part, "state"
    elif isinstance(value, dict):
        for key, part in list(dict.items(value))[:_MAX_ITEMS]:
            if isinstance(key, (str, int, bool)):
                yield f"[{_literal(key)}]", part, "tensor"
    elif isinstance(value, (list, tuple, deque)):
        fields = getattr(type(value), "_fields", ())
        for number, part in enumerate(list(value)[:_MAX_ITEMS]):
            yield f".{fields[number]}" if number < len(fields) else f"[{number}]", part, "tensor"
    else:
        for name, part in _attributes(value):
            yield f".{name}", part, "tensor"


def _parts_of_module(module: Any) -> Iterator[tuple[str, Any, str]]:
    for kind, table in (("parameter", "_parameters"), ("buffer", "_buffers"), ("tensor", "_modules")):
        for name, part in list(vars(module).get(table, {}).items()):
            yield f".{name}" if name.isidentifier() else f"[{name}]", part, kind
    for name, part in _attributes(module):
        if name not in ("_parameters", "_buffers", "_modules") and not name.endswith("_hooks"):
            yield f".{name}", part, "tensor"


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    try:
        table = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        table = {}
    if isinstance(table, dict):
        yield from [(name, part) for name, part in list(table.items())[:_MAX_ITEMS] if isinstance(name, str)]
    for owner in type(value).__mro__:
        for name in _slots(owner):
            member = inspect.getattr_static(value, name, None)
            if inspect.ismemberdescriptor(member):
                try:
                    yield name, member.__get__(value, type(value))
                except AttributeError:
                    continue


def _slots(owner: type) -> tuple[str, ...]:
    slots = vars(owner).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _literal(key: str | int | bool) -> str:
    """Return the source of a key, with double quotes for strings."""
    if isinstance(key, str):
        return '"' + key.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return repr(key)
