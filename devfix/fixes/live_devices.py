"""Live expressions for a device: names and attributes that hold one at a program point."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.analysis.domain.classes import mro
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.objects import Container, Opaque, module_at, object_at
from devfix.analysis.domain.values import ACCELERATOR, Const, Function, Pointer, Value, alternatives
from devfix.analysis.overlays.framework import FrameworkObject
from devfix.analysis.scopes import is_device, serves, visible
from devfix.analysis.stdlib.argparse_ import ParserObject
from devfix.analysis.torch.data import LoaderObject
from devfix.analysis.torch.optimizers import OptimizerObject
from devfix.models.index import root_of
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import walk

__all__ = ["is_distant", "live_devices"]

#: Names of objects that hold a program's settings, the likeliest first.
_OWNERS = (
    "self",
    "args",
    "opt",
    "opts",
    "cfg",
    "config",
    "hparams",
    "params",
    "settings",
    "conf",
    "options",
    "trainer",
)


def live_devices(point: ProgramPoint, call_frame: CallFrame, preferred: str | None = None) -> list[str]:
    """Return the live expressions for the accelerator, best first; locals and globals precede attributes.

    Args:
        point: the program point; its state is kept.
        call_frame: the frame of its call stack in which the expression is to stand.
        preferred: the configured expression; it is first if it is live.

    """
    assert point.state is not None
    names = visible(point, call_frame)
    plain = sorted((name for name, value in names.items() if is_device(name, value)), key=_rank)
    attributes: list[str] = []
    for owner, value in names.items():
        if is_distant(point, call_frame, owner):
            continue
        for option in alternatives(value):
            if isinstance(option, Pointer) and point.state.has(option.id):
                attributes.extend(f"{owner}.{name}" for name in _device_fields(point, option))
    local = set(point.state.names(call_frame.activation.env))
    order = {owner: index for index, owner in enumerate(_OWNERS)}
    plain.sort(key=lambda name: (_rank(name)[0], name not in local, name))
    attributes.sort(key=lambda text: (_rank(text)[0], order.get(text.split(".")[0], 99), text))
    found = [*plain, *attributes]
    if preferred and preferred.split(".")[0] in names:
        found.insert(0, preferred)
    return [text for text in dict.fromkeys(found) if text == preferred or serves(point, call_frame, text)]


def _rank(name: str) -> tuple[int, str]:
    last = name.split(".")[-1].lower()
    order = ("device", "dev", "torch_device")
    if last in order:
        return order.index(last), name
    return (10 if "device" in last else 30 if "rank" in last else 20), name


def is_distant(point: ProgramPoint, call_frame: CallFrame, name: str) -> bool:
    """Return whether a name is a global object that the function does not use, and not a settings object."""
    activation = call_frame.activation
    if activation.function is None or name in _OWNERS or point.state is None:
        return False
    if any(
        name in point.state.names(env)
        for env in (*activation.function.scope, activation.env)
        if env != activation.module.env
    ):
        return False
    return name not in _names_in(activation.function.node)


@node_cache(1024)
def _names_in(function: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in walk(function) if isinstance(node, ast.Name))


def _device_fields(point: ProgramPoint, ref: Pointer) -> Iterator[str]:
    assert point.state is not None
    obj = point.state.heap_object(ref)
    if isinstance(obj, (Container, LoaderObject, Opaque, OptimizerObject, ParserObject)):
        return
    for name, value in obj.fields.items():
        if is_device(name, value):
            yield name
        yield from (f"{name}.device" for option in alternatives(value) if _has_device(point, option))
    if _knows_its_device(point, ref):
        yield "device"
    if obj.cls is not None:
        for base in mro(obj.cls):
            scope = getattr(base, "scope", None)
            for name, value in (point.state.names(scope) if scope is not None else {}).items():
                if ("device" in name and isinstance(value, Function) and value.kind == "property") or is_device(
                    name, value
                ):
                    yield name


def _has_device(point: ProgramPoint, value: Value) -> bool:
    """Return whether a value is a framework's object whose device is the accelerator: ``self.accelerator``."""
    assert point.state is not None
    framework = object_at(point.state, value, FrameworkObject)
    return framework is not None and is_device("device", framework.fields.get("device", Const(None)))


def _knows_its_device(point: ProgramPoint, ref: Pointer) -> bool:
    """Return whether a module on the accelerator has a ``.device`` attribute (Lightning modules, pretrained models)."""
    assert point.state is not None
    obj = module_at(point.state, ref)
    if obj is None or obj.devices != frozenset({ACCELERATOR}):
        return False
    return root_of(obj.name) == "Placed" or obj.name.endswith((".from_pretrained", ".from_config"))
