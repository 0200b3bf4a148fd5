"""yacs and OmegaConf: configurations of nested nodes, whose defaults a file or the command line replaces.

https://github.com/rbgirshick/yacs
https://omegaconf.readthedocs.io/
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from devfix.analysis.domain.objects import Mapping, object_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    NONE,
    UNKNOWN,
    Builtin,
    Const,
    Keywords,
    Pointer,
    Unknown,
    Value,
    alternatives,
    join,
)
from devfix.analysis.stdlib.argparse_ import option_of_class
from devfix.analysis.stdlib.instances import InstanceObject

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter, TransferFunction

__all__ = ["OVERLAYS", "ConfigNodeObject"]

_MERGES = frozenset({"merge_from_file", "merge_from_list", "merge_from_other_cfg"})
_STATES = frozenset({"freeze", "defrost", "set_new_allowed", "register_deprecated_key", "register_renamed_key"})


@dataclass(frozen=True)
class ConfigNodeObject(InstanceObject):
    """A ``CfgNode``: its settings are attributes."""

    def other_attribute(self, interp: Interpreter, pointer: Pointer, name: str, node: ast.AST) -> Value:
        """Return a method of the class, or an unknown setting."""
        if name in _MERGES or name in _STATES or name == "clone":
            return Builtin(pointer, name)
        return super().other_attribute(interp, pointer, name, node)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: what is merged may replace every setting."""
        if name == "clone":
            return pointer
        if name in _STATES:
            return NONE
        if name in _MERGES:
            _open(interp, pointer)
            return NONE
        return super().method(interp, pointer, name, args, keywords, node)


def _open(interp: Interpreter, pointer: Pointer, depth: int = 0) -> None:
    """Replace the defaults of a node and of those in it by what a user may set."""
    for name, value in list(interp.heap_object(pointer).fields.items()):
        if isinstance(value, Const):
            interp.now.set_field(pointer, name, option_of_class(interp, name, value))
        elif depth < 8 and object_at(interp, value, ConfigNodeObject) is not None:
            assert isinstance(value, Pointer)
            _open(interp, value, depth + 1)


def _node(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``CfgNode()``, ``CfgNode({"DEPTH": 50})``."""
    given = object_at(interp, args[0], Mapping) if args else None
    return interp.new(ConfigNodeObject("config", fields=dict(given.fields) if given is not None else {}))


def _created(interp: Interpreter, name: str, args: list[Value], keywords: Keywords, node: ast.Call) -> Value:
    """``OmegaConf.create(settings)``: the settings; what a checkpoint or a text says of them is no tensor or text."""
    given = args[0] if args else keywords.get("obj", UNKNOWN)
    settings = [option for option in alternatives(given) if isinstance(option, (Pointer, Unknown))]
    return join(settings) if settings else interp.new_opaque(f"{name}()", node)


OVERLAYS: dict[str, TransferFunction] = {
    "yacs.config.CfgNode": _node,
    "fvcore.common.config.CfgNode": _node,
    "detectron2.config.CfgNode": _node,
    "omegaconf.OmegaConf.create": _created,
}
