"""Description of a failure as JSON: the failing call, its values, and the history of each value."""

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
from ..parameters import untracked
from ..plain import sizes
from .frames import FOREIGN, PROJECT, Chain, Point, position
from .histories import Node, tensors_in
from .naming import Names
from .ownership import Owner, all_modules, enclosing_modules, owners
from .watching import Failed, ModuleEvent, Provenance

__all__ = ["describe_failure", "failing_call", "in_package"]

_MAX_VALUES = 16
_MAX_EVENTS = 16
_MAX_FRAMES = 8


def describe_failure(provenance: Provenance, error: BaseException) -> dict[str, Any] | None:
    """Return a description of the exception that ended a run; None if its traceback has no frame of the project.

    Keys:
        ``where``: the deepest position in the project; ``frames``: positions in the project, the deepest first.
        ``foreign``: None, or the installed package that raised: ``package``, ``version`` and a position.
        ``operation``, ``function``: the operator and the function of the torch API that raised, or None.
        ``values``: the tensor arguments of the call, each with ``role`` (the parameter's name), ``names``, ``inside``
        (its name in the installed package that raised, or None), ``shape``, ``dtype``, ``device``, ``leaf`` and
        ``history``: events, the oldest first.
        ``homes``: the number of module parameters on each device.
        ``devices``: device expressions of the frames: ``frame``, ``text`` and ``device``.
        ``generator``: None, or the random number generator of the call: ``names``, ``device`` and ``chain`` (its
        creation).
        ``default_device``: None, or the last call of ``torch.set_default_device``: ``device``, ``index`` and ``chain``.
        ``moment``: on a timeline, the number of the last event before the failure, and the time; else None.

    An event has ``kind`` (``created``, ``loaded``, ``computed``, ``moved``), ``operation``, ``device`` (afterwards),
    ``index`` (its number in the run), ``from`` (indices of the preceding events), ``names`` (of the resulting tensor in
    the failing frames), ``owner``, ``chain`` (positions in the project, the innermost first), ``foreign`` (as above,
    for the origin of the event), ``loader`` (whether a data loader is on the stack) and ``copy`` (None, or the last
    transfer from its tensor, which was not modified: ``device``, ``chain``, whether the result is still ``alive``, and
    whether it was part of a ``module`` move).  An owner is the module that has the tensor: ``type``, ``attribute``,
    ``kind`` (``parameter``, ``buffer``, ``attribute``), ``events`` (the module was ``moved`` or ``attached``),
    ``above`` (its enclosing modules, the nearest first, each with ``path`` and ``events``), and ``container`` (a Python
    container due to which the outermost one is not registered: the type of the module that has it, the attribute, and
    the container's type).
    """
    origin = _origin(provenance, error)
    stack = list(_frames(origin.__traceback__))
    project_frames = [
        (frame, point) for frame, point in reversed(stack) if provenance.frames.kind(point.code) == PROJECT
    ]
    if not project_frames:
        return None
    operator, call = _calls(provenance, origin)
    foreign_frame = _foreign(provenance, stack)
    describer = _Describer(
        provenance,
        [frame for frame, _ in project_frames[:_MAX_FRAMES]],
        None if foreign_frame is None else foreign_frame[0],
    )
    where = position(project_frames[0][1], provenance.frames)
    given = list(_values(operator or call)) or describer.mentioned(where["text"] or where["code"])
    return {
        "where": where,
        "frames": [position(point, provenance.frames) for _, point in project_frames[:_MAX_FRAMES]],
        "foreign": None if foreign_frame is None else in_package(provenance, foreign_frame[1]),
        "operation": None if operator is None else operator.name,
        "function": None if call is None else call.name,
        "values": [describer.value(role, tensor) for role, tensor in given],
        "homes": describer.homes(),
        "devices": describer.devices(),
        "generator": describer.generator(call),
        "default_device": describer.default_device(),
        "moment": _moment(provenance),
    }


def failing_call(provenance: Provenance, error: BaseException) -> tuple[BaseException, list[list[Node]]]:
    """Return the exception, or its cause, that a recorded call raised, and the histories of that call's tensors.

    Each tensor's history is followed by those of the values that it was computed from alone on the same device, such as
    ``x`` for ``x / 255``.
    """
    origin = _origin(provenance, error)
    operator, call = _calls(provenance, origin)
    chains: list[list[Node]] = []
    for _, tensor in _values(operator or call):
        chain: list[Node] = []
        node = provenance.histories.of(tensor)
        while node is not None:
            chain.append(node)
            node = node.parents[0] if len(node.parents) == 1 and node.parents[0].device == node.device else None
        if chain:
            chains.append(chain)
    return origin, chains


def _moment(provenance: Provenance) -> tuple[int, float] | None:
    timeline = provenance.histories.timeline
    return None if timeline is None else (provenance.histories.count, timeline.now())


def _origin(provenance: Provenance, error: BaseException) -> BaseException:
    return next((each for each in causes(error) if _is_recorded(provenance, each)), error)


def _is_recorded(provenance: Provenance, error: BaseException) -> bool:
    return any(failed is not None and failed.error is error for failed in (provenance.operator, provenance.call))


def _calls(provenance: Provenance, error: BaseException) -> tuple[Failed | None, Failed | None]:
    operator = provenance.operator if provenance.operator is not None and provenance.operator.error is error else None
    call = provenance.call if provenance.call is not None and provenance.call.error is error else None
    return operator, call


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, Point]]:
    while traceback is not None:
        yield traceback.tb_frame, Point(traceback.tb_frame.f_code, traceback.tb_lasti)
        traceback = traceback.tb_next


def _foreign(provenance: Provenance, stack: list[tuple[FrameType, Point]]) -> tuple[FrameType, Point] | None:
    """Return the innermost frame in an installed package unless it called code of the project."""
    for frame, point in reversed(stack):
        kind = provenance.frames.kind(point.code)
        if kind == PROJECT:
            return None
        if kind == FOREIGN:
            return frame, point
    return None


def in_package(provenance: Provenance, point: Point) -> dict[str, Any]:
    """Return a position in an installed package as JSON."""
    package, version = _distribution(point.code.co_filename)
    return {"package": package, "version": version, **position(point, provenance.frames)}


def _distribution(file: str) -> tuple[str, str | None]:
    """Return name and version of the installed distribution of a file."""
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
    """Yield the tensor arguments of a failed call, with their parameter names."""
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
            if count == _MAX_VALUES:
                return


class _Describer:
    """Conversion of values and events to JSON, with their names and owners."""

    def __init__(self, provenance: Provenance, frames: list[FrameType], foreign_frame: FrameType | None) -> None:
        self._provenance = provenance
        self._foreign_names = Names(
            [] if foreign_frame is None else [foreign_frame], provenance.histories.of, provenance.histories.device_of
        )
        self._names = Names(frames, provenance.histories.of, provenance.histories.device_of)
        self._modules = all_modules()
        self._owners = owners(self._modules, provenance.histories.of)

    def mentioned(self, source: str) -> list[tuple[str, Tensor]]:
        """Return the tensors in the source of a call that raised before a recorded torch function."""
        return self._names.mentioned(source)[:_MAX_VALUES]

    def devices(self) -> list[dict[str, Any]]:
        """Return the frames' expressions for devices."""
        return [{"frame": frame, "text": text, "device": device} for frame, text, device in self._names.devices()]

    def generator(self, call: Failed | None) -> dict[str, Any] | None:
        """Return the random number generator among the arguments of a call."""
        arguments = () if call is None else (*call.args, *call.kwargs.values())
        generator = next((each for each in arguments if isinstance(each, torch.Generator)), None)
        if generator is None:
            return None
        names = [name._asdict() for name in self._names.of_generator(generator)]
        chain = self._provenance.generators.get(generator)
        return {"names": names, "device": str(generator.device), **self._chain(chain or Chain((), None))}

    def default_device(self) -> dict[str, Any] | None:
        if self._provenance.default_device is None:
            return None
        device, index, chain = self._provenance.default_device
        return {"device": device, "index": index, **self._chain(chain)}

    def homes(self) -> dict[str, int]:
        """Return the number of module parameters on each device."""
        tensors = (tensor for module in self._modules for tensor in vars(module).get("_parameters", {}).values())
        return dict(Counter(self._provenance.histories.device_of(tensor) for tensor in tensors if tensor is not None))

    def value(self, role: str, tensor: Tensor) -> dict[str, Any]:
        node = self._provenance.histories.of(tensor)
        with untracked():
            shape, dtype = sizes(tensor), str(tensor.dtype).removeprefix("torch.")
        return {
            "role": role,
            "names": [name._asdict() for name in self._names.of(tensor)],
            "inside": next((name.text for name in self._foreign_names.of(tensor)), None),
            "shape": shape,
            "dtype": dtype,
            "device": self._provenance.histories.device_of(tensor),
            "leaf": bool(tensor.is_leaf),
            "history": [] if node is None else [self._event(each) for each in node.ancestors()[-_MAX_EVENTS:]],
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
        positions = self._chain(chain)["chain"]
        return {"device": device, "chain": positions, "alive": result() is not None, "module": module}

    def _owner(self, owner: Owner | None) -> dict[str, Any] | None:
        if owner is None:
            return None
        above, container = enclosing_modules(owner.module, self._modules)
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
        return [self._module_event(event) for event in self._provenance.modules.get(module, ())][-_MAX_EVENTS:]

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
            "chain": [position(point, self._provenance.frames) for point in chain.points],
            "foreign": None if chain.foreign is None else in_package(self._provenance, chain.foreign),
        }
