"""What is known about a failure, as JSON values: the call, the values that it was given, and how each came there."""

from __future__ import annotations

import importlib.metadata
import os
from collections import Counter
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

import torch
from torch import Tensor

from ..failures import causes
from .frames import FOREIGN, PROJECT, Chain, Point, position
from .histories import Node, tensors_in
from .naming import Names
from .ownership import Owner, all_modules, owners, surroundings
from .watching import Failed, ModuleEvent, Provenance

__all__ = ["failing", "tell"]

_MOST_VALUES = 16
_MOST_EVENTS = 16
_MOST_FRAMES = 8


def tell(watch: Provenance, error: BaseException) -> dict[str, Any] | None:
    """The story of the exception that ended a run; None where no frame of the project is on its way.

    Keys:
        ``where``: the deepest position in the project; ``frames``: positions of the project, the deepest first.
        ``foreign``: None, or the installed package in whose code it failed: ``package``, ``version`` and a position.
        ``operation``, ``function``: the operator and the function of the torch API that raised, or None.
        ``values``: the tensors that the call was given, each with ``role`` (the parameter's name), ``names``,
        ``inside`` (its name in the installed package in whose code it failed, or None),
        ``shape``, ``dtype``, ``device``, ``leaf`` and ``history``: events, the oldest first.
        ``homes``: how many parameters of the program's modules live on each device.
        ``devices``: what the frames call devices: ``frame``, ``text`` and ``device``.

    An event has ``kind`` (``created``, ``loaded``, ``computed``, ``moved``), ``operation``, ``device`` (afterwards),
    ``index`` (its number in the run), ``from`` (numbers of the events before it), ``names`` (of what it left behind, as
    the frames of the failure know it), ``owner``, ``chain`` (positions in the project, the innermost first),
    ``foreign`` (as above, where an installed package did it), ``loader`` (whether a data loader did it) and ``copy``
    (None, or the last transfer from it, which left its memory where it was: ``device``, ``chain``, whether the result
    is still ``alive``, and whether it moved a ``module``).  An owner is the module that keeps the tensor:
    ``type``, ``attribute``, ``kind`` (``parameter``, ``buffer``, ``attribute``), ``events`` (the module was ``moved``
    or ``attached``), ``above`` (the modules that it is a part of, the nearest first, each with ``path`` and
    ``events``), and ``container`` (a Python container that keeps the outermost one from being registered: the type of
    the module that has it, the attribute, the container's type).
    """
    origin = _origin(watch, error)
    stack = list(_frames(origin.__traceback__))
    ours = [(frame, point) for frame, point in reversed(stack) if watch.frames.kind(point.code) == PROJECT]
    if not ours:
        return None
    operator, call = _calls(watch, origin)
    inside = _foreign(watch, stack)
    teller = _Teller(watch, [frame for frame, _ in ours[:_MOST_FRAMES]], None if inside is None else inside[0])
    where = position(ours[0][1], watch.frames)
    given = list(_values(operator or call)) or teller.mentioned(where["text"] or where["code"])
    return {
        "where": where,
        "frames": [position(point, watch.frames) for _, point in ours[:_MOST_FRAMES]],
        "foreign": None if inside is None else _in_package(watch, inside[1]),
        "operation": None if operator is None else operator.name,
        "function": None if call is None else call.name,
        "values": [teller.value(role, tensor) for role, tensor in given],
        "homes": teller.homes(),
        "devices": teller.devices(),
    }


def failing(watch: Provenance, error: BaseException) -> tuple[BaseException, list[list[Node]]]:
    """The exception among the causes of one that a watched call raised, and what that call worked on.

    That is for each of its tensors its history, and those of what it was made of alone, there: ``x`` where ``x / 255``
    failed.
    """
    origin = _origin(watch, error)
    operator, call = _calls(watch, origin)
    strands: list[list[Node]] = []
    for _, tensor in _values(operator or call):
        strand: list[Node] = []
        node = watch.histories.of(tensor)
        while node is not None:
            strand.append(node)
            node = node.parents[0] if len(node.parents) == 1 and node.parents[0].device == node.device else None
        if strand:
            strands.append(strand)
    return origin, strands


def _origin(watch: Provenance, error: BaseException) -> BaseException:
    return next((each for each in causes(error) if _is_watched(watch, each)), error)


def _is_watched(watch: Provenance, error: BaseException) -> bool:
    return any(failed is not None and failed.error is error for failed in (watch.operator, watch.call))


def _calls(watch: Provenance, error: BaseException) -> tuple[Failed | None, Failed | None]:
    operator = watch.operator if watch.operator is not None and watch.operator.error is error else None
    call = watch.call if watch.call is not None and watch.call.error is error else None
    return operator, call


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, Point]]:
    while traceback is not None:
        yield traceback.tb_frame, Point(traceback.tb_frame.f_code, traceback.tb_lasti)
        traceback = traceback.tb_next


def _foreign(watch: Provenance, stack: list[tuple[FrameType, Point]]) -> tuple[FrameType, Point] | None:
    """The innermost frame that is in an installed package, if no code of the project ran inside of it."""
    for frame, point in reversed(stack):
        kind = watch.frames.kind(point.code)
        if kind == PROJECT:
            return None
        if kind == FOREIGN:
            return frame, point
    return None


def _in_package(watch: Provenance, point: Point) -> dict[str, Any]:
    package, version = _distribution(point.code.co_filename)
    return {"package": package, "version": version, **position(point, watch.frames)}


def _distribution(file: str) -> tuple[str, str | None]:
    """Name and version of the installed distribution that a file belongs to."""
    for mark in ("site-packages", "dist-packages"):
        _, found, rest = os.path.realpath(file).rpartition(f"{os.sep}{mark}{os.sep}")
        if found:
            top = rest.split(os.sep)[0].removesuffix(".py")
            distributions = importlib.metadata.packages_distributions().get(top, [top])
            try:
                return distributions[0], importlib.metadata.version(distributions[0])
            except importlib.metadata.PackageNotFoundError:
                return top, None
    return os.path.basename(os.path.dirname(file)), None


def _values(failed: Failed | None) -> Iterator[tuple[str, Tensor]]:
    """The tensors that a failed call was given, with the names of the parameters that took them."""
    if failed is None:
        return
    schema = getattr(failed.operation, "_schema", None)
    declared = [argument.name for argument in schema.arguments] if schema is not None else []
    given = [(declared[at] if at < len(declared) else str(at), value) for at, value in enumerate(failed.args)]
    count = 0
    for role, value in (*given, *failed.kwargs.items()):
        tensors = [value] if isinstance(value, Tensor) else list(tensors_in([value]))
        for number, tensor in enumerate(tensors):
            yield role if value is tensor else f"{role}[{number}]", tensor
            count += 1
            if count == _MOST_VALUES:
                return


class _Teller:
    """Writes values and events with their names and owners."""

    def __init__(self, watch: Provenance, frames: list[FrameType], inside: FrameType | None) -> None:
        self._watch = watch
        self._inside = Names([] if inside is None else [inside], watch.histories.of, watch.histories.device_of)
        self._names = Names(frames, watch.histories.of, watch.histories.device_of)
        self._modules = all_modules()
        self._owners = owners(self._modules, watch.histories.of)

    def mentioned(self, source: str) -> list[tuple[str, Tensor]]:
        """The tensors that a call names, where it raised without having passed the torch API that is watched."""
        return self._names.mentioned(source)[:_MOST_VALUES]

    def devices(self) -> list[dict[str, Any]]:
        """Expressions of the frames whose value is a device."""
        return [{"frame": frame, "text": text, "device": device} for frame, text, device in self._names.devices()]

    def homes(self) -> dict[str, int]:
        """How many parameters of modules live on each device."""
        tensors = (tensor for module in self._modules for tensor in vars(module).get("_parameters", {}).values())
        return dict(Counter(self._watch.histories.device_of(tensor) for tensor in tensors if tensor is not None))

    def value(self, role: str, tensor: Tensor) -> dict[str, Any]:
        node = self._watch.histories.of(tensor)
        with torch._C.DisableTorchFunction():
            shape, dtype = list(tensor.shape), str(tensor.dtype).removeprefix("torch.")
        return {
            "role": role,
            "names": [name._asdict() for name in self._names.of(tensor)],
            "inside": next((name.text for name in self._inside.of(tensor)), None),
            "shape": shape,
            "dtype": dtype,
            "device": self._watch.histories.device_of(tensor),
            "leaf": bool(tensor.is_leaf),
            "history": [] if node is None else [self._event(each) for each in node.ancestors()[-_MOST_EVENTS:]],
        }

    def _event(self, node: Node) -> dict[str, Any]:
        return {
            "kind": node.kind,
            "operation": node.operation,
            "device": node.device,
            "index": node.index,
            "from": [parent.index for parent in node.parents],
            "names": [name._asdict() for name in self._names.with_history(node)],
            "owner": self._owner(self._owners.get(id(node))),
            "loader": node.chain.loader,
            "copy": self._copy(node),
            **self._chain(node.chain),
        }

    def _copy(self, node: Node) -> dict[str, Any] | None:
        if node.copy is None:
            return None
        device, chain, result, module = node.copy
        told = self._chain(chain)["chain"]
        return {"device": device, "chain": told, "alive": result() is not None, "module": module}

    def _owner(self, owner: Owner | None) -> dict[str, Any] | None:
        if owner is None:
            return None
        above, container = surroundings(owner.module, self._modules)
        return {
            "type": type(owner.module).__name__,
            "attribute": owner.attribute,
            "kind": owner.kind,
            "above": [
                {"type": type(module).__name__, "path": path, "events": self._module_events(module)}
                for module, path in above
            ],
            "container": container,
            "events": self._module_events(owner.module),
        }

    def _module_events(self, module: Any) -> list[dict[str, Any]]:
        return [self._module_event(event) for event in self._watch.modules.get(module, ())][-_MOST_EVENTS:]

    def _module_event(self, event: ModuleEvent) -> dict[str, Any]:
        return {
            "kind": event.kind,
            "device": event.device,
            "parent": event.parent,
            "index": event.index,
            **self._chain(event.chain),
        }

    def _chain(self, chain: Chain) -> dict[str, Any]:
        return {
            "chain": [position(point, self._watch.frames) for point in chain.points],
            "foreign": None if chain.foreign is None else _in_package(self._watch, chain.foreign),
        }
