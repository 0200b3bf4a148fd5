"""Command lines: argparse, click and typer options as abstract values."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from devfix.analysis.domain.device_parsing import parse_device
from devfix.analysis.domain.joins import ENTRIES
from devfix.analysis.domain.objects import Container, HeapObject, Mapping, object_at
from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import (
    CPU,
    NONE,
    UNKNOWN,
    Const,
    DeviceValue,
    External,
    Function,
    Keywords,
    Number,
    Pointer,
    Text,
    TupleValue,
    Unknown,
    Value,
)
from devfix.analysis.scenarios import configured_device
from devfix.analysis.stdlib.containers import ListObject
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.analysis.transfer.device_arguments import device_by_symbol

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["ParserObject", "option_default", "option_of_class", "value_by_name"]

_DEVICE_OPTIONS = frozenset({"device", "dev", "devices", "torch_device", "gpu_device", "train_device", "cuda_device"})

_BACKENDS = frozenset({"nccl", "gloo"})  # of process groups: few users choose another one than the default


def value_by_name(interp: Interpreter, symbol: str) -> Value:
    """Return the value of an option or argument, given its name: ``device`` is the scenario's device."""
    last = symbol.split(".")[-1].lower()
    if last in _DEVICE_OPTIONS or (last.endswith("_device") and device_by_symbol(last) != CPU):
        interp.observations.has_configured_device = True
        return DeviceValue(configured_device(interp), text=True, symbol=symbol)
    return Unknown(symbol)


@dataclass(frozen=True)
class ParserObject(HeapObject):
    """An ``ArgumentParser``, one of its groups, or a subparser: its options are fields.

    Attributes:
        defaults: of options that choose an accelerator; they hold where the program parses an empty command line.

    """

    defaults: dict[str, Value] = field(default_factory=dict, metadata=ENTRIES)

    def method(
        self, interp: Interpreter, pointer: Pointer, name: str, args: list[Value], keywords: Keywords, node: ast.Call
    ) -> Value:
        """Call a method: add options, or parse the command line."""
        if name == "add_argument":
            _add_argument(interp, pointer, args, keywords)
        elif name == "set_defaults":
            given = {key: value for key, value in keywords.items() if key != "**"}
            kept = {key: value for key, value in self.defaults.items() if key not in given}
            interp.now.update(pointer, fields={**self.fields, **given}, defaults=kept)
            return NONE
        elif name in ("parse_args", "parse_intermixed_args"):
            return self._parse(interp, args, keywords)
        elif name == "parse_known_args":
            return TupleValue((self._parse(interp, args, keywords), UNKNOWN))
        elif name in ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"):
            return pointer
        return UNKNOWN

    def _parse(self, interp: Interpreter, args: list[Value], keywords: Keywords) -> Pointer:
        """Return a namespace with the options of the parser and its groups."""
        line = args[0] if args else keywords.get("args")
        known = self.defaults if line is not None and _is_empty(interp, line) else {}
        return interp.new(InstanceObject("args", fields={**self.fields, **known}))


def _is_empty(interp: Interpreter, line: Value) -> bool:
    """Return whether a command line that the program gives has no words: ``parse_args([])``."""
    words = object_at(interp, line, Container)
    is_empty_list = words is not None and not words.fields and words.default_item is None
    return line in (Const(""), TupleValue(())) or is_empty_list


def _add_argument(interp: Interpreter, parser: Pointer, args: list[Value], keywords: Keywords) -> None:
    """``parser.add_argument(...)``: add an option."""
    names = [value.value for value in args if isinstance(value, Const) and isinstance(value.value, str)]
    if not names:
        return
    target = keywords.get("dest")
    long = next((name for name in names if name.startswith("--")), names[0])
    name = str(target.value) if isinstance(target, Const) else long.lstrip("-").replace("-", "_")
    interp.now.set_field(parser, name, _option(interp, name, keywords))
    default = _default(name, keywords)
    known = object_at(interp, parser, ParserObject)
    if default is not None and known is not None:
        interp.now.update(parser, defaults={**known.defaults, name: default})


def _default(name: str, keywords: dict[str, Value]) -> Value | None:
    """Return the default of an option that asks for an accelerator, or for none; ``None`` if it asks for nothing."""
    default, action = keywords.get("default"), keywords.get("action")
    if _ASKS.search(name) is None:
        return None
    if action in (Const("store_true"), Const("store_false")):
        return Const(action == Const("store_false")) if default is None else default
    is_cpu = isinstance(default, Const) and isinstance(default.value, str) and parse_device(default.value) == CPU
    is_off = default in (Const(False), Const(-1), Const(""))
    return default if is_cpu or is_off else None


_ASKS = re.compile(r"(^|_)(cuda|cpu|gpus?|device)($|_)")


def _option(interp: Interpreter, name: str, keywords: dict[str, Value]) -> Value:
    symbol = f"args.{name}"
    action = keywords.get("action")
    type_ = keywords.get("type")
    default = keywords.get("default")
    for switch, is_on in (("store_true", True), ("store_false", False)):
        if action == Const(switch) and default == Const(is_on):
            return Const(is_on)  # given or not
    if _is_list(keywords.get("nargs")) and (type_ == External("torch.device") or _holds_devices(interp, default)):
        interp.observations.has_configured_device = True
        return interp.new(ListObject(default_item=DeviceValue(configured_device(interp))))
    device = value_by_name(interp, symbol)
    is_possible = not _lists_no_accelerator(interp, keywords.get("choices")) and not _is_other_text(name, default)
    if isinstance(device, DeviceValue) and is_possible:
        if type_ == External("builtins.int"):
            return Number(symbol)
        return Text(symbol) if _is_index(default) else device
    if isinstance(action, Const) and action.value in ("store_true", "store_false", "store_const", "count"):
        return Unknown(symbol)
    if isinstance(action, External) or _is_list(keywords.get("nargs")):
        return Unknown(symbol)
    if type_ in (External("builtins.int"), External("builtins.float")):
        if isinstance(default, Const) and default.value is None and "gpu" not in name and "rank" not in name:
            return Unknown(symbol)
        return Number(symbol)
    if isinstance(default, Const):
        if isinstance(default.value, bool) or default.value is None:
            return Unknown(symbol)
        if isinstance(default.value, (int, float)):
            return Number(symbol)
        if isinstance(default.value, str):
            return default if default.value in _BACKENDS else Text(symbol, _choices(interp, keywords))
    if isinstance(default, DeviceValue):
        return default
    choices = _choices(interp, keywords) if default is None and keywords.get("required") == Const(True) else ()
    return Text(symbol, choices) if choices else Unknown(symbol)


def _holds_devices(interp: Interpreter, default: Value | None) -> bool:
    """Return whether a default is a list of devices: ``[torch.device("cuda")]``."""
    listed = object_at(interp, default, Container)
    return listed is not None and any(isinstance(item, DeviceValue) for item in listed.contents)


def _choices(interp: Interpreter, keywords: dict[str, Value]) -> tuple[str, ...]:
    """Return the texts that an option may be, with its default; none if they are not all known, or other than texts."""
    if keywords.get("action") is not None or keywords.get("nargs") is not None:
        return ()
    listed = _listed(interp, keywords.get("choices"))
    default = [keywords["default"]] if "default" in keywords else []
    texts = [item.value for item in (*listed, *default) if isinstance(item, Const) and isinstance(item.value, str)]
    return tuple(dict.fromkeys(texts)) if listed and len(texts) == len(listed) + len(default) else ()


_ACCELERATOR_WORDS = ("cuda", "gpu", "auto", "mps", "xpu", "npu", "tpu", "hpu", "acc")


def _is_other_text(name: str, default: Value | None) -> bool:
    """Return whether the default of an option is a text that names no device: ``"data/dev.txt"``.

    No text is one of ``--dev``, a part of the data; of ``--device``, it lets the program choose.
    """
    text = default.value if isinstance(default, Const) else None
    if text == "":
        return name == "dev"
    if not isinstance(text, str) or parse_device(text) is not None:
        return False
    return not any(word in text.lower() for word in _ACCELERATOR_WORDS) and not _is_index(default)


def _is_index(default: Value | None) -> bool:
    """Return whether the default of an option is a text with the numbers of accelerators, which names no device."""
    text = default.value if isinstance(default, Const) else None
    return isinstance(text, str) and re.fullmatch(r"[\d,\s-]+", text) is not None


def _lists_no_accelerator(interp: Interpreter, choices: Value | None) -> bool:
    """Return whether the choices of an option are known, and none of them is an accelerator: ``["cpu", "nvme"]``."""
    items = _listed(interp, choices)
    texts = [str(item.value).lower() for item in items if isinstance(item, Const)]
    if not texts or len(texts) != len(items):
        return False
    return not any(word in text for text in texts for word in _ACCELERATOR_WORDS) and not any(map(str.isdigit, texts))


def _listed(interp: Interpreter, choices: Value | None) -> Sequence[Value]:
    """Return the choices of an option, the keys of a dictionary; none if they are not known."""
    if isinstance(choices, TupleValue):
        return choices.items
    listed = object_at(interp, choices, Container)
    if isinstance(listed, Mapping):
        return [Const(key) for key in listed.fields] if listed.default_item is None else []
    return listed.contents if listed is not None else []


def option_of_class(interp: Interpreter, name: str, default: Value) -> Value:
    """Return the value of an option that an attribute of a class declares, given its default."""
    return _option(interp, name, {"default": default})


def _is_list(nargs: Value | None) -> bool:
    """Return whether an option has a list of values: ``nargs="+"``."""
    return isinstance(nargs, Const) and nargs.value not in (None, "?")


def option_default(interp: Interpreter, function: Function, parameter: str) -> Value | None:
    """Return the value of a parameter with a ``click`` or ``typer`` decorator; ``None`` if there is none."""
    for decorator in getattr(function.node, "decorator_list", []):
        if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
            continue
        if decorator.func.attr not in ("option", "argument"):
            continue
        names = [a.value for a in decorator.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        parameter_names = {part.lstrip("-").replace("-", "_") for name in names for part in name.split("/")}
        if parameter not in parameter_names:
            continue
        keywords = {k.arg: _constant(k.value) for k in decorator.keywords if k.arg}
        if "is_flag" in keywords or any("/" in name for name in names):
            return Unknown(f"args.{parameter}")
        return _option(interp, parameter, keywords)
    return None


def _constant(node: ast.expr) -> Value:
    if isinstance(node, ast.Constant):
        return Const(node.value)
    if isinstance(node, ast.Name) and node.id in ("int", "float", "str", "bool"):
        return External(f"builtins.{node.id}")
    return UNKNOWN
