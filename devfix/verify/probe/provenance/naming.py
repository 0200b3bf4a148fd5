"""What the user's code calls a value: searched for, once, among what the frames of the failure can reach."""

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

_MOST_OBJECTS = 20_000
_MOST_ITEMS = 400
_DEEPEST = 6
_MOST_NAMES = 6
_MOST_FRAMES = 8
_MOST_DEVICES = 12
_DEVICE = re.compile(r"(cuda|mps|xpu)(:\d+)?")
_OPAQUE = (str, bytes, int, float, bool, type(None), ModuleType, FunctionType, MethodType, range)


class Name(NamedTuple):
    """An expression of frame ``frame`` (0 is the deepest one given) whose value is the tensor, or shares its memory.

    ``kind`` is ``tensor``, ``parameter``, ``buffer`` or ``state`` (of an optimizer).
    """

    frame: int
    text: str
    exact: bool
    kind: str


class Names:
    """All names that the variables of some frames give to tensors.

    Args:
        frames: the deepest one first.
        history: what is known about a tensor's memory; tensors that share memory share it.
        device_of: where a tensor is, as PyTorch writes devices.

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
        self._near: list[tuple[str, Tensor]] = []
        for number, frame in enumerate(frames):
            for text, value, kind in reachable(variables(frame)):
                if isinstance(value, (torch.device, str)):
                    self._devices.append((number, text, str(value)))
                elif isinstance(value, Tensor):
                    if text.isidentifier():
                        self._devices.append((number, f"{text}.device", device_of(value)))
                    if number == 0:
                        self._near.append((text, value))
                    name = Name(number, text, exact=False, kind=kind)
                    self._found.setdefault(id(history(value)), []).append((name, id(value)))

    def devices(self) -> list[tuple[int, str, str]]:
        """Frame, expression and device, for what the frames call devices, the shortest first."""
        ranked = sorted(self._devices, key=lambda each: (each[0], each[1].count("."), len(each[1]), each[1]))
        return [
            each for number in range(_MOST_FRAMES) for each in [r for r in ranked if r[0] == number][:_MOST_DEVICES]
        ]

    def mentioned(self, source: str) -> list[tuple[str, Tensor]]:
        """Names and tensors of the deepest frame that a piece of source speaks of."""
        words = (r"(?<![\w.])" + re.escape(text) + r"(?![\w\[])" for text, _ in self._near)
        return [each for each, word in zip(self._near, words) if re.search(word, source)]

    def of(self, tensor: Tensor) -> list[Name]:
        """Names of a tensor and of what shares its memory, the best first."""
        return self._best(self._history(tensor), id(tensor))

    def with_history(self, history: Any) -> list[Name]:
        """Names of the tensors with this history."""
        return self._best(history, 0)

    def _best(self, history: Any, identity: int) -> list[Name]:
        """Of the tensor itself, as an optimizer's state, of the deepest frame, the shortest."""
        if history is None:
            return []
        found = {name._replace(exact=known == identity) for name, known in self._found.get(id(history), [])}
        return sorted(found, key=_rank)[:_MOST_NAMES]


def _rank(name: Name) -> tuple[object, ...]:
    return not name.exact, name.kind != "state", name.frame, name.text.count("."), len(name.text), name.text


def variables(frame: FrameType) -> dict[str, Any]:
    """What the code of a frame can name: its local variables, and the global ones that it uses."""
    found = {name: value for name, value in frame.f_locals.items() if name.isidentifier()}
    for name in frame.f_code.co_names:
        if name in frame.f_globals:
            found.setdefault(name, frame.f_globals[name])
    return {name: value for name, value in found.items() if not name.startswith("__")}


def reachable(named: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Expression, value and kind, for what named values lead to, near ones first.

    A tensor or a device comes under each of its names; of strings, only those that name an accelerator.
    """
    pending: deque[tuple[str, Any, int, str]] = deque((name, value, 0, "tensor") for name, value in named.items())
    seen: set[int] = set()
    while pending and len(seen) < _MOST_OBJECTS:
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
        if depth == _DEEPEST:
            continue
        pending.extend((text + step, part, depth + 1, kind) for step, part, kind in _parts(value))


def _parts(value: Any) -> Iterator[tuple[str, Any, str]]:
    """What an object holds: how to write the way to it, the part, and its kind.  Nothing of the user's is called."""
    if isinstance(value, type):
        held = vars(value).items() if value.__module__.split(".")[0] != "torch" else ()
        yield from ((f".{name}", part, "tensor") for name, part in held if isinstance(part, Tensor))
    elif isinstance(value, torch.nn.Module):
        yield from _parts_of_module(value)
    elif isinstance(value, torch.optim.Optimizer):
        for number, state in enumerate(list(value.state.values())[:_MOST_ITEMS]):
            for key, part in state.items() if isinstance(state, dict) else ():
                yield f".state[{number}][{key!r}]", part, "state"
    elif isinstance(value, dict):
        for key, part in list(dict.items(value))[:_MOST_ITEMS]:
            if isinstance(key, (str, int, bool)):
                yield f"[{_literal(key)}]", part, "tensor"
    elif isinstance(value, (list, tuple, deque)):
        fields = getattr(type(value), "_fields", ())
        for number, part in enumerate(list(value)[:_MOST_ITEMS]):
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
        yield from [(name, part) for name, part in list(table.items())[:_MOST_ITEMS] if isinstance(name, str)]
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
    """A key as people write it, in double quotes."""
    if isinstance(key, str):
        return '"' + key.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return repr(key)
