"""Where everything lives after the first step, row by row, and what is out of place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from devfix.trace.device_map.misplaced import Judge
from devfix.trace.story import Position
from devfix.verify.records import Run

__all__ = ["SECTIONS", "Environment", "Memory", "PlaceMap", "Row", "read_map"]

#: Headings of the map, in order.
SECTIONS = ("modules", "criteria", "plain attributes", "optimizers", "batches", "variables")


@dataclass(frozen=True)
class Environment:
    """What the script's interpreter says of its devices.

    Attributes:
        python, torch: versions.
        built_for: what PyTorch was built for, as ``CUDA 12.6`` or ``CPU``; None where the device is simulated.
        kind: ``cuda``, ``mps``, ``xpu``; None on a machine without accelerator.
        simulated: whether the device is.
        available: whether ``is_available()`` says so.
        names: of the devices.

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
    """Something that lives somewhere.

    Attributes:
        section: one of :data:`SECTIONS`.
        name: what the program calls it; of an unfolded part, its name in what it is a part of.
        type: its class, or dtype and shape.
        devices: where it lives, as PyTorch writes devices; empty if it holds no tensor.
        bytes: of its tensors.
        depth: 0, or how deep in an unfolded module.
        problem: why it is out of place; None if it is not.
        remark: what else there is to say; the empty string if nothing.

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
    """Bytes on one device: of modules, of gradients, of optimizers' states, of other tensors that Python can reach."""

    device: str
    modules: int
    gradients: int
    optimizers: int
    others: int

    @property
    def total(self) -> int:
        return self.modules + self.gradients + self.optimizers + self.others


@dataclass(frozen=True)
class PlaceMap:
    """The whole map.

    Attributes:
        moment: ``step``: after the first steps; ``failure``: when the run failed; ``end``: it ended without a step.
        steps: how many steps had been made.
        where: the line of the step or the failure; None where no code of the project ran.
        environment: the interpreter and its devices.
        rows: by section.
        memory: by device.
        notes: remarks about the whole.

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
        """What is out of place."""
        return tuple(row for row in self.rows if row.problem)


def read_map(run: Run) -> PlaceMap | None:
    """The map of a run that was asked for one; None where it ended before it could be taken."""
    told = run.map
    if told is None:
        return None
    judge = Judge(told)
    rows = (*_modules(told, judge), *_attributes(told, judge), *_optimizers(told), *_batches(told, judge))
    environment = _environment(told["environment"])
    ordered = tuple(row for section in SECTIONS for row in rows if row.section == section)
    where = told["where"]
    return PlaceMap(
        told["moment"],
        told["steps"],
        where and Position(where["file"], where["line"], where["function"], where["code"], place=where.get("place")),
        environment,
        ordered,
        tuple(_memory(place, told["memory"][place]) for place in sorted(told["memory"], key=_accelerators_first)),
        tuple(_notes(environment, ordered)),
    )


def _environment(told: Mapping[str, Any]) -> Environment:
    names = tuple(told["names"])
    versions = told["python"], told["torch"], told["built_for"]
    return Environment(*versions, told["kind"], told["simulated"], told["available"], names)


def _accelerators_first(place: str) -> tuple[bool, str]:
    return place == "cpu", place


def _memory(place: str, told: Mapping[str, int]) -> Memory:
    return Memory(place, *(told.get(kind, 0) for kind in ("modules", "gradients", "optimizers", "others")))


def _notes(environment: Environment, rows: tuple[Row, ...]) -> Iterator[str]:
    used = {place.partition(":")[0] for row in rows for place in row.devices}
    if environment.available and environment.kind not in used and used:
        yield f"{environment.kind} is available, and nothing lives there"


def _where(places: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(places, key=_accelerators_first))


def _size(places: Mapping[str, Any]) -> int:
    return sum(size for _, size in places.values())


def _modules(told: Mapping[str, Any], judge: Judge) -> Iterator[Row]:
    for tree in told["modules"]:
        section = "criteria" if tree["criterion"] else "modules"
        places = tree["places"]
        remark = "" if tree["trained"] or tree["criterion"] else "not trained"
        problem = judge.module(tree)
        yield Row(section, tree["name"], tree["type"], _where(places), _size(places), 0, problem, remark)
        yield from _unfolded(section, tree, judge, tree, 1)


def _unfolded(
    section: str, node: Mapping[str, Any], judge: Judge, root: Mapping[str, Any], depth: int
) -> Iterator[Row]:
    for tensor in node.get("tensors", ()):
        problem = judge.tensor(tensor, node, root)
        yield Row(section, tensor["name"], _type(tensor), (tensor["place"],), tensor["bytes"], depth, problem)
    for part in node.get("parts", ()):
        places = part["places"]
        problem = judge.part(part, root)
        yield Row(section, part["name"], part["type"], _where(places), _size(places), depth, problem)
        yield from _unfolded(section, part, judge, root, depth + 1)


def _type(tensor: Mapping[str, Any]) -> str:
    """``float32 [3, 4]``."""
    shape = tensor["shape"]
    return str(tensor["dtype"]) if shape is None else f"{tensor['dtype']} {list(shape)}"


def _sent(tensor: Mapping[str, Any]) -> str:
    return f"sent to {tensor['sent']}" if tensor["sent"] not in (None, tensor["place"]) else ""


def _attributes(told: Mapping[str, Any], judge: Judge) -> Iterator[Row]:
    for each in told["attributes"]:
        problem = judge.attribute(each)
        place = (each["place"],)
        yield Row(
            "plain attributes", each["name"], _type(each), place, each["bytes"], problem=problem, remark=_sent(each)
        )


def _optimizers(told: Mapping[str, Any]) -> Iterator[Row]:
    for each in told["optimizers"]:
        places = _where({**each["parameters"], **each["state"]})
        remark = "" if each["stepped"] else "no step yet"
        yield Row("optimizers", each["name"], each["type"], places, _size(each["state"]), remark=remark)
        for stray in each["strays"]:
            name = f"state of {stray['parameter']}: {stray['key']}"
            problem = f"its parameter is on {stray['parameter_place']}"
            yield Row("optimizers", name, _type(stray), (stray["place"],), stray["bytes"], 1, problem)
    for each in told["scalers"]:
        places = (each["place"],) if each["place"] else ()
        remark = "" if each["place"] else "disabled" if not each["enabled"] else "no scale yet"
        yield Row("optimizers", each["name"], each["type"], places, 0, remark=remark)


def _batches(told: Mapping[str, Any], judge: Judge) -> Iterator[Row]:
    for loader in told["batches"]:
        for field in loader["fields"]:
            held = ", ".join(field["variables"])
            name = f"{held or field['field'] or 'batch'} of {loader['name']}"
            place, problem = (field["place"],), judge.field(field)
            yield Row("batches", name, _type(field), place, field["bytes"], problem=problem, remark=_sent(field))
    for each in told["tensors"]:
        section = "batches" if each["batch"] else "variables"
        problem = judge.field(each) if each["batch"] or each["operand"] else None
        many = f"{each['count']} tensors" if each["count"] > 1 else ""
        remark = ", ".join(part for part in (many, _sent(each) if each["batch"] else "") if part)
        yield Row(section, each["name"], _type(each), (each["place"],), each["bytes"], problem=problem, remark=remark)
