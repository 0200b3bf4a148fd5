"""The tensors of a device map as a tree: sections, modules with their parts, and tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from devfix.trace.device_map.misplaced import MisplacementCheck
from devfix.trace.device_map.rows import DeviceMap, Row, type_text

__all__ = ["Node", "read_tree"]


@dataclass(frozen=True)
class Node:
    """A section, module, optimizer or tensor.

    Attributes:
        label: its name in its parent.
        name: its name in the program.
        type: its class, or dtype and shape; empty for a section.
        sizes: bytes by device, the accelerators first.
        problem: the reason if it is misplaced; None if it is not.
        remark: a remark; may be empty.
        parts: the nodes in it; the sizes of tensors that two parts share count in both.
        is_held: whether a name still refers to it, so that it takes memory.

    """

    label: str
    name: str
    type: str
    sizes: Mapping[str, int]
    problem: str | None = None
    remark: str = ""
    parts: tuple[Node, ...] = ()
    is_held: bool = True

    @property
    def bytes(self) -> int:
        """The bytes on all devices."""
        return sum(self.sizes.values())

    def descendants(self) -> Iterator[Node]:
        """Yield the parts, their parts and so on, each before its own parts."""
        for part in self.parts:
            yield part
            yield from part.descendants()


def read_tree(data: Mapping[str, Any], device_map: DeviceMap) -> Node:
    """Return the tree of all tensors.

    Args:
        data: the map as the probe's JSON.
        device_map: the same map, read.

    """
    check = MisplacementCheck(data)
    rows: dict[str, list[Row]] = {}
    for row in device_map.rows:
        rows.setdefault(row.section, []).append(row)
    roots: dict[str, list[Node]] = {"modules": [], "criteria": []}
    for tree in data["modules"]:
        root = next((row for row in rows.get(_section(tree), ()) if row.name == tree["name"] and not row.depth), None)
        problem, remark = (root.problem, root.remark) if root else (None, "")
        roots[_section(tree)].append(_module(tree, tree["name"], tree["name"], check, tree, problem, remark))
    gradients = {each.device: each.gradients for each in device_map.memory}
    sections = [
        _sum("modules", roots["modules"]),
        _sum("criteria", roots["criteria"]),
        _sum("plain attributes", map(_of_row, rows.get("plain attributes", ()))),
        Node("gradients", "gradients", "", _ordered(gradients)),
        _sum("optimizers", _optimizers(data, rows.get("optimizers", ()))),
        _sum("batches", _batches(data, rows.get("batches", ()))),
        _sum("variables", map(_of_row, rows.get("variables", ()))),
    ]
    sections.append(Node("other tensors", "other tensors", "", _unnamed(device_map, sections)))
    return _sum("all tensors", [section for section in sections if section.bytes or section.parts])


def _section(tree: Mapping[str, Any]) -> str:
    return "criteria" if tree["criterion"] else "modules"


def _sum(name: str, parts: Iterable[Node]) -> Node:
    found = tuple(parts)
    sizes: dict[str, int] = {}
    for part in found:
        for device, size in part.sizes.items() if part.is_held else ():
            sizes[device] = sizes.get(device, 0) + size
    return Node(name, name, "", _ordered(sizes), parts=found)


def _ordered(sizes: Mapping[str, int]) -> dict[str, int]:
    devices = sorted(sizes, key=lambda device: (device == "cpu", device))
    return {device: sizes[device] for device in devices if sizes[device]}


def _module(
    node: Mapping[str, Any],
    label: str,
    name: str,
    check: MisplacementCheck,
    root: Mapping[str, Any],
    problem: str | None,
    remark: str = "",
) -> Node:
    parts = [
        _module(part, part["name"], name + _accessor(part["name"]), check, root, check.part(part, root))
        for part in node.get("parts", ())
    ]
    tensors = [
        Node(
            tensor["name"],
            name + _accessor(tensor["name"]),
            type_text(tensor),
            {tensor["place"]: tensor["bytes"]},
            check.tensor(tensor, node, root) if len(node["places"]) > 1 else None,
            "" if tensor["kind"] == "parameter" else tensor["kind"],
        )
        for tensor in node.get("tensors", ())
    ]
    sizes = _ordered({device: size for device, (_, size) in node["places"].items()})
    return Node(label, name, node["type"], sizes, problem, remark, (*parts, *tensors))


def _accessor(name: str) -> str:
    return f"[{name}]" if name.isdigit() else f".{name}"


def _of_row(row: Row) -> Node:
    sizes = {row.devices[0]: row.bytes} if row.devices else {}
    return Node(row.name, row.name, row.type, sizes, row.problem, row.remark)


def _batches(data: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[Node]:
    """Yield the batches; a field that a data loader yielded is held if a variable names it."""
    fields = [field for loader in data["batches"] for field in loader["fields"]]
    for number, row in enumerate(rows):
        is_held = number >= len(fields) or bool(fields[number]["variables"])
        yield replace(_of_row(row), is_held=is_held)


def _optimizers(data: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[Node]:
    states = {each["name"]: each["state"] for each in data["optimizers"]}
    strays: dict[str, list[Node]] = {}
    owner = ""
    for row in rows:
        if row.depth:
            strays.setdefault(owner, []).append(_of_row(row))
        owner = owner if row.depth else row.name
    for row in rows:
        if not row.depth:
            sizes = _ordered({device: size for device, (_, size) in states.get(row.name, {}).items()})
            yield Node(row.name, row.name, row.type, sizes, row.problem, row.remark, tuple(strays.get(row.name, ())))


def _unnamed(device_map: DeviceMap, sections: Sequence[Node]) -> dict[str, int]:
    """Return the bytes of tensors that are in no section."""
    named: dict[str, int] = {}
    for section in sections:
        for device, size in section.sizes.items():
            named[device] = named.get(device, 0) + size
    rest = {each.device: each.total - named.get(each.device, 0) for each in device_map.memory}
    return _ordered({device: max(size, 0) for device, size in rest.items()})
