"""The second machine: what a program does where the device that it chooses is not the one that it hard-codes.

devfix follows the run with one accelerator, in which every accelerator is the same.  A program that chooses its
device (``"cuda" if torch.cuda.is_available() else "cpu"``, ``args.device``, ``cuda:1``) and hard-codes another one in
some line is right there and wrong elsewhere.  So it is followed once more: there is no accelerator, options and other
indices name the CPU, and only what says ``cuda`` or ``cuda:0`` without asking still goes to the accelerator.

A program that names several accelerators (``cuda:0`` and ``cuda:1``, ``cuda:{local_rank}``) is followed on a machine
with two of them as well, as the process that is told to use the second one.  There ``ACCELERATOR`` is the current one,
which ``cuda`` means, and ``OTHER_ACCELERATOR`` is not; the CPU is left to the first run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    OTHER_ACCELERATOR,
    UNKNOWN_DEVICE,
    Device,
    Number,
    Origin,
    Value,
)
from devfix.analysis.move_observations import DeviceAssignment
from devfix.analysis.observations import Observations
from devfix.syntax.tree import SourceTree, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "accelerator",
    "device_words",
    "foreign_index",
    "index_place",
    "literal",
    "may_contradict",
    "names_several",
    "origins_after_move",
    "record_placement",
    "says_current",
    "without_accelerator",
]


def record_placement(interp: Interpreter, node: ast.AST, device: Device | None, came: Device | None = None) -> None:
    """Note that ``node`` sends a value to ``device``, or makes it there."""
    if device is None or not device.known or not isinstance(node, ast.Call):
        return
    known = interp.observations.device_assignments.setdefault(node, {})
    if device not in known:
        known[device] = DeviceAssignment(interp.point(node, with_state=True), node, device, interp.latent, came)


def origins_after_move(interp: Interpreter, node: ast.AST, device: Device) -> tuple[Origin, ...]:
    """The origins of a value that ``node`` sends to ``device``; on the accelerator, for the second machine only."""
    told = interp.scenario.no_accelerator or interp.scenario.multi_accelerator or device == CPU
    if not isinstance(node, ast.Call) or not device.known or not told:
        return ()
    record_placement(interp, node, device)
    return (Origin("moved", interp.observations.number(node)),)


def index_place(interp: Interpreter, value: Value) -> Device:
    """Where an index of an accelerator is: 0 is what ``cuda`` means, any other a device of its own."""
    zero = not isinstance(value, Number) and getattr(value, "value", 0) == 0
    interp.observations.fixed_index |= not zero and not isinstance(value, Number)
    return accelerator(interp, zero)


def accelerator(interp: Interpreter, zero: bool) -> Device:
    """The accelerator of index 0, or of any other index."""
    if interp.scenario.multi_accelerator:
        return ACCELERATOR if zero is interp.current_is_zero else OTHER_ACCELERATOR
    return ACCELERATOR if zero or not interp.scenario.no_accelerator else CPU


def without_accelerator(interp: Interpreter) -> Device:
    """Where a device is of which the program is only told: it may be any."""
    return (
        UNKNOWN_DEVICE if interp.scenario.multi_accelerator else CPU if interp.scenario.no_accelerator else ACCELERATOR
    )


# --- several accelerators ------------------------------------------------------------------------------------------
# What names another accelerator than the first, or the one of a process.
_SEVERAL = re.compile(r"cuda:[1-9]|(?:cuda|to|device)\(['\"]?[1-9]|['\"]cuda['\"], *[1-9]|init_process_group")


def names_several(trees: Sequence[SourceTree]) -> bool:
    """Whether a program names accelerators by their indices, or starts a process for each."""
    return any(_SEVERAL.search(tree.text) for tree in trees)


# --- hard-coded places ----------------------------------------------------------------------------------------------
_LOADS = ("torch.load", "load_file")
_NAMES = ("cuda", "cuda:0")
_CURRENT = ("set_device(", "CUDA_VISIBLE_DEVICES", "cuda.device(")  # what says which accelerator ``cuda`` is


def device_words(call: ast.Call) -> ast.expr | None:
    """The argument of a call that names its device: ``device=``, the first of ``.to()`` and ``.type()``, the second of
    ``torch.load``.
    """
    for keyword in call.keywords:
        if keyword.arg in ("device", "map_location"):
            return keyword.value
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "type") and call.args:
        return call.args[0]
    if text_of(call.func).endswith("safe_open"):
        return call.args[2] if len(call.args) > 2 else None
    return call.args[1] if len(call.args) > 1 and text_of(call.func).endswith(_LOADS) else None


def literal(node: ast.expr) -> str | None:
    """The device that a literal names: ``"cuda"``, ``torch.device("cpu")``; ``None`` for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Call) and text_of(node.func).split(".")[-1] == "device" and len(node.args) == 1:
        return literal(node.args[0])
    if isinstance(node, ast.Attribute) and ".cuda." in text_of(node) and node.attr.endswith("Tensor"):
        return "cuda"
    return None


def may_contradict(observations: Observations, trees: Sequence[SourceTree]) -> bool:
    """Whether a second run can show anything: the program chooses a device, and some line hard-codes one."""
    if not (observations.asks_available or observations.named_devices or observations.fixed_index):
        return False
    calls = [call for call, devices in observations.device_assignments.items() if ACCELERATOR in devices]
    if any(_hard_codes(call) for call in calls):
        return True
    observations.foreign_index = foreign_index(observations, calls, trees)
    if observations.foreign_index is not None:
        return True
    words = {_last_name(part) for call in calls for part in (device_words(call), call.func)} - {""}
    return bool(words) and any(words & _names_of_literals(tree) for tree in trees)


def says_current(trees: Sequence[SourceTree]) -> bool:
    """Whether some file of the program says which accelerator ``cuda`` is."""
    return any(word in tree.text for tree in trees for word in _CURRENT)


def foreign_index(observations: Observations, calls: Sequence[ast.Call], trees: Sequence[SourceTree]) -> str | None:
    """``cuda:1`` in moves alone, in a program that asks for an accelerator, and where no other is hard-coded.

    A program that names the index somewhere else, or several of them, works on more accelerators than one.
    """
    if not observations.asks_available or observations.current_device:
        return None
    said = [text for call in calls if (words := device_words(call)) is not None and (text := literal(words))]
    named = set(said)
    if len(named) != 1 or said[0].partition(":")[2] in ("", "0"):
        return None
    written = sum(tree.text.count(f"{quote}{said[0]}{quote}") for tree in trees for quote in "\"'")
    return said[0] if written == len(said) else None


def _hard_codes(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
        return all(isinstance(argument, ast.Constant) for argument in call.args)
    words = device_words(call)
    return (words is not None and literal(words) in _NAMES) or literal(call.func) == "cuda"


def _last_name(words: ast.expr | None) -> str:
    return words.attr if isinstance(words, ast.Attribute) else words.id if isinstance(words, ast.Name) else ""


@lru_cache(maxsize=256)
def _names_of_literals(tree: SourceTree) -> frozenset[str]:
    """Names, attributes and parameters that some line of a file binds to a literal accelerator."""
    if "cuda" not in tree.text:
        return frozenset()
    found: set[str] = set()
    for node in tree.nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and literal(node.value) in _NAMES:
            found.update(map(_last_name, node.targets if isinstance(node, ast.Assign) else [node.target]))
        elif isinstance(node, ast.arguments):
            given = [*node.posonlyargs, *node.args]
            pairs = [
                *zip(given[::-1], node.defaults[::-1], strict=False),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            found.update(arg.arg for arg, default in pairs if default is not None and literal(default) in _NAMES)
    return frozenset(found)
