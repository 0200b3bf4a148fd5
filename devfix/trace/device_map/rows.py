"""The device map: one row per module, optimizer, batch and tensor, with its devices and the reason if misplaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from devfix.trace.device_map.misplaced import MisplacementCheck
from devfix.trace.failure_trace import Position
from devfix.verify.records import Run

__all__ = ["SECTIONS", "DeviceMap", "Environment", "Memory", "Row", "read_map", "type_text"]

#: Headings of the map, in order.
SECTIONS = ("modules", "criteria", "plain attributes", "optimizers", "batches", "variables")


@dataclass(frozen=True)
class Environment:
    """The devices of the script's interpreter.

    Attributes:
        python, torch: versions.
        built_for: PyTorch's build, such as ``CUDA 12.6`` or ``CPU``; None on a simulated device.
        kind: ``cuda``, ``mps``, ``xpu``, ``npu``; None on a machine without accelerator.
        simulated: whether the device is simulated.
        available: the result of ``is_available()``.
        names: names of the devices.

    """

    python: str
    torch: str
    built_for: str | None
    kind: str | None
    simulated: bool
    available: bool
    names: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A module, optimizer, batch or tensor.

    Attributes:
        section: one of :data:`SECTIONS`.
        name: its name in the program; for a submodule, its name in the parent.
        type: its class, or dtype and shape.
        devices: devices of its tensors, as PyTorch writes them; empty if it holds no tensor.
        bytes: size of its tensors.
        depth: nesting depth in an expanded module; 0 for a root.
        problem: the reason if it is misplaced; None if it is not.
        remark: a remark; may be empty.

    """

    section: str
    name: str
    type: str
    devices: tuple[str, ...]
    bytes: int
    depth: int = 0
    problem: str | None = None
    remark: str = ""


@dataclass(frozen=True)
class Memory:
    """Bytes on one device: of modules, gradients, optimizer states, and other tensors that Python can reach."""

    device: str
    modules: int
    gradients: int
    optimizers: int
    others: int

    @property
    def total(self) -> int:
        return self.modules + self.gradients + self.optimizers + self.others


@dataclass(frozen=True)
class DeviceMap:
    """The device map of a run.

    Attributes:
        moment: ``step``: after the first steps; ``failure``: when the run failed; ``end``: it ended without a step.
        steps: number of optimizer steps.
        where: the line of the step or the failure; None if no code of the project ran.
        environment: the interpreter and its devices.
        rows: the rows, by section.
        memory: memory by device.
        notes: remarks on the whole map.

    """

    moment: str
    steps: int
    where: Position | None
    environment: Environment
    rows: tuple[Row, ...]
    memory: tuple[Memory, ...]
    notes: tuple[str, ...]

    @property
    def misplaced(self) -> tuple[Row, ...]:
        """The misplaced rows."""
        return tuple(row for row in self.rows if row.problem)


def read_map(run: Run) -> DeviceMap | None:
    """Return the device map of a run; None if the run ended before the map was taken."""
    data = run.map
    if data is None:
        return None
    check = MisplacementCheck(data)
    rows = (*_modules(data, check), *_attributes(data, check), *_optimizers(data), *_batches(data, check))
    environment = _environment(data["environment"])
    ordered = tuple(row for section in SECTIONS for row in rows if row.section == section)
    where = data["where"]
    return DeviceMap(
        data["moment"],
        data["steps"],
        where and Position(where["file"], where["line"], where["function"], where["code"], cell=where.get("place")),
        environment,
        ordered,
        tuple(_memory(device, data["memory"][device]) for device in sorted(data["memory"], key=_accelerators_first)),
        tuple(_notes(environment, ordered)),
    )


def _environment(data: Mapping[str, Any]) -> Environment:
    names = tuple(data["names"])
    versions = data["python"], data["torch"], data["built_for"]
    return Environment(*versions, data["kind"], data["simulated"], data["available"], names)


def _accelerators_first(device: str) -> tuple[bool, str]:
    return device == "cpu", device


def _memory(device: str, data: Mapping[str, int]) -> Memory:
    return Memory(device, *(data.get(kind, 0) for kind in ("modules", "gradients", "optimizers", "others")))


def _notes(environment: Environment, rows: tuple[Row, ...]) -> Iterator[str]:
    used = {device.partition(":")[0] for row in rows for device in row.devices}
    if environment.available and environment.kind not in used and used:
        yield f"{environment.kind} is available, and nothing is on it"


def _devices(tensors_by_device: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(tensors_by_device, key=_accelerators_first))


def _size(tensors_by_device: Mapping[str, Any]) -> int:
    return sum(size for _, size in tensors_by_device.values())


def _modules(data: Mapping[str, Any], check: MisplacementCheck) -> Iterator[Row]:
    for tree in data["modules"]:
        section = "criteria" if tree["criterion"] else "modules"
        devices = tree["places"]
        remark = "" if tree["trained"] or tree["criterion"] else "not trained"
        problem = check.module(tree)
        yield Row(section, tree["name"], tree["type"], _devices(devices), _size(devices), 0, problem, remark)
        yield from _unfolded(section, tree, check, tree, 1)


def _unfolded(
    section: str, node: Mapping[str, Any], check: MisplacementCheck, root: Mapping[str, Any], depth: int
) -> Iterator[Row]:
    if len(node["places"]) < 2:
        return
    for tensor in node.get("tensors", ()):
        problem = check.tensor(tensor, node, root)
        yield Row(section, tensor["name"], type_text(tensor), (tensor["place"],), tensor["bytes"], depth, problem)
    for part in node.get("parts", ()):
        devices = part["places"]
        problem = check.part(part, root)
        yield Row(section, part["name"], part["type"], _devices(devices), _size(devices), depth, problem)
        yield from _unfolded(section, part, check, root, depth + 1)


def type_text(tensor: Mapping[str, Any]) -> str:
    """Return dtype and shape: ``float32 [3, 4]``."""
    shape = tensor["shape"]
    return str(tensor["dtype"]) if shape is None else f"{tensor['dtype']} {list(shape)}"


def _sent_remark(tensor: Mapping[str, Any]) -> str:
    return f"sent to {tensor['sent']}" if tensor["sent"] not in (None, tensor["place"]) else ""


def _attributes(data: Mapping[str, Any], check: MisplacementCheck) -> Iterator[Row]:
    for each in data["attributes"]:
        problem = check.attribute(each)
        device = (each["place"],)
        yield Row(
            "plain attributes",
            each["name"],
            type_text(each),
            device,
            each["bytes"],
            problem=problem,
            remark=_sent_remark(each),
        )


def _optimizers(data: Mapping[str, Any]) -> Iterator[Row]:
    for each in data["optimizers"]:
        devices = _devices({**each["parameters"], **each["state"]})
        remark = "" if each["stepped"] else "no step yet"
        yield Row("optimizers", each["name"], each["type"], devices, _size(each["state"]), remark=remark)
        for stray in each["strays"]:
            name = f"state of {stray['parameter']}: {stray['key']}"
            problem = f"its parameter is on {stray['parameter_place']}"
            yield Row("optimizers", name, type_text(stray), (stray["place"],), stray["bytes"], 1, problem)
    for each in data["scalers"]:
        devices = (each["place"],) if each["place"] else ()
        remark = "" if each["place"] else "disabled" if not each["enabled"] else "no scale yet"
        yield Row("optimizers", each["name"], each["type"], devices, 0, remark=remark)


def _batches(data: Mapping[str, Any], check: MisplacementCheck) -> Iterator[Row]:
    for loader in data["batches"]:
        for field in loader["fields"]:
            variables = ", ".join(field["variables"])
            name = f"{variables or field['field'] or 'batch'} of {loader['name']}"
            device, problem = (field["place"],), check.field(field)
            yield Row(
                "batches", name, type_text(field), device, field["bytes"], problem=problem, remark=_sent_remark(field)
            )
    for each in data["tensors"]:
        section = "batches" if each["batch"] else "variables"
        problem = check.field(each) if each["batch"] or each["operand"] else None
        count = f"{each['count']} tensors" if each["count"] > 1 else ""
        remark = ", ".join(part for part in (count, _sent_remark(each) if each["batch"] else "") if part)
        yield Row(
            section, each["name"], type_text(each), (each["place"],), each["bytes"], problem=problem, remark=remark
        )
