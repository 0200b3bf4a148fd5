"""Scenarios: how device expressions resolve on a machine with no, one or several accelerators.

Every program is interpreted with one accelerator, where all accelerators are the same device.  That scenario misses
programs that choose a device (``"cuda" if torch.cuda.is_available() else "cpu"``, ``args.device``, ``cuda:1``) but
hard-code another device in some line.  These are interpreted again without an accelerator: options and other indices
name the CPU, and only a hard-coded ``cuda`` or ``cuda:0`` names the accelerator.

A program that names several accelerators (``cuda:0`` and ``cuda:1``, ``cuda:{local_rank}``) is also interpreted with
two accelerators, as the process of the second one.  There ``ACCELERATOR`` is the current device (``cuda``), and
``OTHER_ACCELERATOR`` is not.  Values on the CPU are checked in the main scenario only.  The main run stands for this
scenario, too, if it has come neither to an accelerator by another index than 0 nor to a condition on the number of
accelerators or processes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devfix.analysis.domain.state import Unreachable
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
from devfix.analysis.observations import DeviceAssignment, Observations
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import SourceTree, text_of

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = [
    "configured_device",
    "device_argument_of",
    "foreign_index",
    "index_device",
    "indexed_accelerator",
    "literal_device",
    "may_conflict",
    "names_several_accelerators",
    "origins_after_move",
    "record_placement",
    "require_accelerator",
    "sets_current_device",
]


def require_accelerator(interp: Interpreter, node: ast.Call) -> None:
    """End a path without an accelerator at a call that needs one; raises ``Unreachable``.

    Only a call that its statement always makes ends the path, and ``suppress`` goes on after it.
    """
    activation = interp.activation
    if not interp.scenario.no_accelerator or activation is None or activation.stmt is None:
        return
    around = activation.module.tree.ancestors(node)
    if activation.stmt not in around or not _is_always_made(node, around[: around.index(activation.stmt)]):
        return
    outer = [each for each in around if isinstance(each, (ast.With, ast.AsyncWith))]
    if not any("suppress" in text_of(item.context_expr) for each in outer for item in each.items):
        raise Unreachable


def _is_always_made(node: ast.AST, around: Sequence[ast.AST]) -> bool:
    """Return whether evaluating the outermost of some expressions evaluates the innermost one in any case."""
    for parent in around:
        match parent:
            case ast.BoolOp(values=[first, *_]) if first is not node:
                return False
            case ast.IfExp(test=test) if test is not node:
                return False
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return False
        node = parent
    return True


def record_placement(
    interp: Interpreter,
    node: ast.AST,
    device: Device | None,
    source: Device | None = None,
    *,
    moves_nothing: bool = False,
) -> None:
    """Record that ``node`` moves a value from ``source`` to ``device``, or creates it there."""
    if device is None or not device.known or not isinstance(node, ast.Call):
        return
    known = interp.observations.device_assignments.setdefault(node, {})
    if device not in known or (known[device].moves_nothing and not moves_nothing):
        point = interp.point(node, with_state=True)
        known[device] = DeviceAssignment(point, node, device, interp.latent, source, moves_nothing)


def origins_after_move(interp: Interpreter, node: ast.AST, device: Device) -> tuple[Origin, ...]:
    """Return the origins of a value that ``node`` moves to ``device``.

    Values on an accelerator have origins only in the scenarios with no or several accelerators.
    """
    has_origins = interp.scenario.no_accelerator or interp.scenario.multi_accelerator or device == CPU
    if not isinstance(node, ast.Call) or not device.known or not has_origins:
        return ()
    record_placement(interp, node, device)
    return (Origin("moved", interp.observations.number(node)),)


def index_device(interp: Interpreter, value: Value) -> Device:
    """Return the device of an accelerator index: 0 is the device ``cuda``, any other index another device."""
    is_zero = not isinstance(value, Number) and getattr(value, "value", 0) == 0
    interp.observations.has_fixed_index |= not is_zero and not isinstance(value, Number)
    return indexed_accelerator(interp, is_zero)


def indexed_accelerator(interp: Interpreter, is_zero: bool) -> Device:
    """Return the accelerator with index 0, or with any other index."""
    interp.observations.may_use_second |= not is_zero
    if interp.scenario.multi_accelerator:
        current_is_zero = interp.now.runtime.current_is_zero
        if current_is_zero is None:
            return UNKNOWN_DEVICE
        return ACCELERATOR if is_zero is current_is_zero else OTHER_ACCELERATOR
    return ACCELERATOR if is_zero or not interp.scenario.no_accelerator else CPU


def configured_device(interp: Interpreter) -> Device:
    """Return the device that an option, an argument or an environment variable names."""
    return (
        UNKNOWN_DEVICE if interp.scenario.multi_accelerator else CPU if interp.scenario.no_accelerator else ACCELERATOR
    )


# --- several accelerators ------------------------------------------------------------------------------------------
# An accelerator other than the first, or one accelerator per process.
_SEVERAL_ACCELERATORS = re.compile(
    r"cuda:[1-9]|(?:cuda|to|device)\(['\"]?[1-9]|['\"]cuda['\"], *[1-9]|init_process_group"
)


def names_several_accelerators(trees: Sequence[SourceTree]) -> bool:
    """Return whether a program names accelerators by index, or starts one process per accelerator."""
    return any(_SEVERAL_ACCELERATORS.search(tree.text) for tree in trees)


# --- hard-coded devices ---------------------------------------------------------------------------------------------
_LOAD_FUNCTIONS = ("torch.load", "load_file")
_ACCELERATOR_NAMES = ("cuda", "cuda:0")
# Among them, launchers that select the accelerator of each process, https://deepspeed.readthedocs.io/en/latest/initialize.html
_CURRENT_DEVICE_SETTINGS = (
    "set_device(",
    "CUDA_VISIBLE_DEVICES",
    "cuda.device(",
    "deepspeed.initialize(",
    "deepspeed.init_distributed(",
    "Accelerator(",
)


def device_argument_of(call: ast.Call) -> ast.expr | None:
    """Return the device argument of a call: ``device=``, ``map_location=``, or the positional one.

    That is the first argument of ``.to()`` and ``.type()``, the second of ``torch.load``.
    """
    for keyword in call.keywords:
        if keyword.arg in ("device", "map_location"):
            return keyword.value
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "type") and call.args:
        return call.args[0]
    if text_of(call.func).endswith("safe_open"):
        return call.args[2] if len(call.args) > 2 else None
    return call.args[1] if len(call.args) > 1 and text_of(call.func).endswith(_LOAD_FUNCTIONS) else None


def literal_device(node: ast.expr) -> str | None:
    """Return the device name of a literal (``"cuda"``, ``torch.device("cpu")``); ``None`` for other expressions."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Call) and text_of(node.func).split(".")[-1] == "device" and len(node.args) == 1:
        return literal_device(node.args[0])
    if isinstance(node, ast.Attribute) and ".cuda." in text_of(node) and node.attr.endswith("Tensor"):
        return "cuda"
    return None


def may_conflict(observations: Observations, trees: Sequence[SourceTree]) -> bool:
    """Return whether the program chooses a device and may hard-code another: the scenario without one can show it."""
    if not (observations.checks_availability or observations.has_configured_device or observations.has_fixed_index):
        return False
    calls = [call for call, devices in observations.device_assignments.items() if ACCELERATOR in devices]
    if any(_hard_codes(call) for call in calls):
        return True
    observations.foreign_index = foreign_index(observations, calls, trees)
    if observations.foreign_index is not None:
        return True
    names = {_last_name(part) for call in calls for part in (device_argument_of(call), call.func)} - {""}
    return bool(names) and any((names | {_BY_POSITION}) & _names_bound_to_accelerators(tree) for tree in trees)


def sets_current_device(trees: Sequence[SourceTree]) -> bool:
    """Return whether the program selects the accelerator that ``cuda`` names."""
    return any(word in tree.text for tree in trees for word in _CURRENT_DEVICE_SETTINGS)


def foreign_index(observations: Observations, calls: Sequence[ast.Call], trees: Sequence[SourceTree]) -> str | None:
    """Return the only hard-coded device, such as ``cuda:1``, if the program otherwise chooses its device.

    Return ``None`` if the name occurs outside device arguments or if there are several: then the program is meant for
    several accelerators.
    """
    if not observations.checks_availability or observations.sets_current_device:
        return None
    literals = [
        text
        for call in calls
        if (argument := device_argument_of(call)) is not None and (text := literal_device(argument))
    ]
    distinct = set(literals)
    if len(distinct) != 1 or literals[0].partition(":")[2] in ("", "0"):
        return None
    occurrences = sum(tree.text.count(f"{quote}{literals[0]}{quote}") for tree in trees for quote in "\"'")
    return literals[0] if occurrences == len(literals) else None


def _hard_codes(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
        return all(isinstance(argument, ast.Constant) for argument in call.args)
    argument = device_argument_of(call)
    return (argument is not None and literal_device(argument) in _ACCELERATOR_NAMES) or literal_device(
        call.func
    ) == "cuda"


def _last_name(node: ast.expr | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


_BY_POSITION = "*"  # in place of a parameter's name
_TAKE_DEVICES = frozenset({"to", "type", "device"})


@node_cache(256)
def _names_bound_to_accelerators(tree: SourceTree) -> frozenset[str]:
    """Return the names, attributes, parameters and keywords of a file that are bound to a literal accelerator."""
    if "cuda" not in tree.text:
        return frozenset()
    found: set[str] = set()
    for node in tree.nodes:
        if (
            isinstance(node, (ast.Assign, ast.AnnAssign))
            and node.value is not None
            and literal_device(node.value) in _ACCELERATOR_NAMES
        ):
            found.update(map(_last_name, node.targets if isinstance(node, ast.Assign) else [node.target]))
        elif isinstance(node, ast.keyword) and literal_device(node.value) in _ACCELERATOR_NAMES:
            found.add(node.arg or "")
        elif isinstance(node, ast.Call) and _last_name(node.func) not in _TAKE_DEVICES:
            if any(literal_device(argument) in _ACCELERATOR_NAMES for argument in node.args):
                found.add(_BY_POSITION)
        elif isinstance(node, ast.arguments):
            given = [*node.posonlyargs, *node.args]
            pairs = [
                *zip(given[::-1], node.defaults[::-1], strict=False),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]
            found.update(
                arg.arg
                for arg, default in pairs
                if default is not None and literal_device(default) in _ACCELERATOR_NAMES
            )
    return frozenset(found - {""})
