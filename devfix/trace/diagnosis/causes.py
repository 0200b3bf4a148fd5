"""The cause of a misplaced value, by a list of detectors: each recognizes one kind, and the first match wins.

A cause has a name, such as ``plain-attribute``.  The rules declare the causes that they explain
(:attr:`devfix.rules.rule.Rule.causes`).  No rule explains ``package-tensor``, ``computed-before-move``,
``created-on-variable-device`` and ``unclassified``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from devfix.trace.call_syntax import call_at, is_attribute, is_discarded
from devfix.trace.diagnosis import part_causes
from devfix.trace.diagnosis.blame import REQUIRES_CPU, Misplacement, is_in_module, is_part
from devfix.trace.diagnosis.context import (
    Cause,
    Context,
    all_names,
    last_move_away,
    origin_clause,
    peer_clause,
    peer_device,
    preceding_events,
)
from devfix.trace.diagnosis.load_causes import detect_load
from devfix.trace.failure_trace import FailureTrace, Package, ValueEvent
from devfix.trace.names import expression, quoted_move

__all__ = ["Cause", "cause_of"]


def cause_of(failure: FailureTrace, misplacement: Misplacement, origin: ValueEvent | None) -> Cause:
    """Return the cause for which the misplaced value is on the wrong device.

    Args:
        failure: the failure.
        misplacement: the misplaced value, and the operand that it conflicts with.
        origin: the event that put the value on its device; None if unknown.

    """
    context = Context(failure, misplacement.value, misplacement.peer, origin)
    return next(found for detect in _DETECTORS if (found := detect(context)) is not None)


# --- operations with device requirements ----------------------------------------------------------------------------
def _requires_cpu(context: Context) -> Cause | None:
    failure = context.failure
    if failure.family not in REQUIRES_CPU:
        return None
    since = f"{context.name}, {origin_clause(context)}, is on {context.device}"
    if failure.family == "numpy":
        return Cause(
            "numpy-reads-accelerator", f"{since}, and NumPy reads the CPU's memory only: {failure.where} needs a copy."
        )
    if failure.family == "rng-state":
        return Cause(
            "rng-state-on-accelerator", f"{since}, and the state of a random number generator must be on the CPU."
        )
    return Cause(
        "cpu-only-operand",
        f"{since}, and `{(failure.function or failure.operation or '').lstrip('_')}` requires it on the CPU.",
    )


def _between_accelerators(context: Context) -> Cause | None:
    """Detect a value that one half of a model passes to the other half on another accelerator."""
    if context.peer is None or context.value.on_cpu or context.peer.on_cpu or context.registered_in is not None:
        return None
    return Cause(
        "between-accelerators",
        f"{context.name}, {origin_clause(context)}, is on {context.device}, and {peer_clause(context)} on"
        f" {context.expected_device}.",
    )


# --- optimizer state ------------------------------------------------------------------------------------------------
def _optimizer_state(context: Context) -> Cause | None:
    if not any(name.kind == "state" for name in context.value.names):
        return None
    move = _move_of_parameters(context)
    later = f"; its parameters moved to {context.expected_device} at {move.position}" if move and move.position else ""
    return Cause(
        "optimizer-state-left-behind",
        f"The optimizer's state {context.name} was {origin_clause(context)}, on {context.device}{later}.",
    )


def _move_of_parameters(context: Context) -> ValueEvent | None:
    """Return the transfer of a parameter in the history of the other operands."""
    others = [value for value in context.failure.values if value.device == peer_device(context)]
    moves = [event for value in others for event in value.history if event.kind == "moved" and is_in_module(event)]
    return moves[0] if moves else None


# --- other tensors --------------------------------------------------------------------------------------------------
def _discarded_copy(context: Context) -> Cause | None:
    """Detect a copy on the expected device whose result was discarded or rebound."""
    copies = [event.copy for event in context.events if event.copy and event.copy.stack and not event.copy.by_module]
    copy = next((each for each in copies if each.device == peer_device(context) and is_discarded(each)), None)
    if copy is None:
        return None
    where = copy.stack[0]
    return Cause(
        "discarded-copy",
        f"`{expression(where)}` at {where} returned a copy that is not used, so {context.name} stayed on"
        f" {context.device}.",
    )


def _plain_attribute(context: Context) -> Cause | None:
    if context.origin is None or context.origin.from_loader or context.origin.package is not None:
        return None
    if context.owner is not None and context.owner.kind == "attribute":
        move = last_move_away(context)
        left = f", which {quoted_move(move)} does not move" if move else ", which no module moves"
        return Cause(
            "plain-attribute",
            f"{context.name} (`{context.owner.attribute}` of `{context.owner.type}`), {origin_clause(context)}, is a"
            f" plain attribute{left}.",
        )
    attribute = next((name.text for name in all_names(context) if is_attribute(name.text, of=("self", "cls"))), None)
    if context.origin.kind == "created" and attribute is not None and _created_in_other_function(context):
        name = context.name if f"`{attribute}`" == context.name else f"{context.name} (`{attribute}`)"
        return Cause(
            "plain-attribute", f"{name}, {origin_clause(context)}, is stored in an attribute that no module moves."
        )
    return None


def _created_in_other_function(context: Context) -> bool:
    position = context.origin.position if context.origin else None
    where = context.failure.where
    return position is not None and (position.file, position.function) != (where.file, where.function)


def _batch(context: Context) -> Cause | None:
    if context.origin is None:
        if is_part(context.value) or not context.value.on_cpu:
            return None
        return Cause(
            "batch-from-loader",
            f"{context.name} is on the CPU; its creation was not observed, as in another process (a data loader's"
            f" worker) or in a library outside of PyTorch.",
        )
    if not context.origin.from_loader or not context.value.on_cpu:
        return None
    stack = context.origin.stack
    line = next((each for each in reversed(stack) if each.text and each == context.origin.position), None)
    at = f" at {line}" if line else context.at_origin
    return Cause(
        "batch-from-loader",
        f"{context.name} came from a data loader{at} on the CPU, and was not moved before {context.failure.where}.",
    )


def _copied_before_move(context: Context) -> Cause | None:
    """Detect a value that was computed from a parameter before the parameter moved."""
    if context.origin is None or context.origin.position is None:
        return None
    if not any(event.copy is not None and event.copy.by_module for event in preceding_events(context)):
        return None
    return Cause(
        "parameter-copied-before-move" if _in_optimizer_step(context) else "computed-before-move",
        f"{context.name} was {origin_clause(context)}, on {context.device}, and stayed there when its source moved.",
    )


def _in_optimizer_step(context: Context) -> bool:
    return any(position.function == "step" for position in context.failure.frames)


def _created_by_package(context: Context) -> Cause | None:
    package = context.origin.package if context.origin else None
    if package is None:
        return None
    is_plain = context.owner is not None and context.owner.kind == "attribute"
    created = f"{package} created {context.name} on {context.device} in {package.where}"
    return Cause(
        "plain-attribute" if is_plain else "package-tensor",
        f"{created}, {_package_advice(context, package, is_plain=is_plain)}.",
        package,
    )


def _package_advice(context: Context, package: Package, *, is_plain: bool) -> str:
    """Return the end of the sentence: how the project can work around a package's tensor."""
    if is_plain and context.owner is not None:
        return (
            f"a plain attribute of `{context.owner.type}` that moving the module does not move: move"
            f" `{context.owner.attribute}` separately after that, or pin or upgrade {package.name}"
        )
    if context.failure.package is not None:
        return (
            f"and combines it with values on {context.expected_device} in its code, called at"
            f" {context.failure.where}: pin or upgrade {package.name}, or pass it values on {context.device}"
        )
    has_position = context.origin and context.origin.position
    call = f"{context.origin_code}{context.at_origin}" if has_position else "the call"
    return f"called by {call}: move the result to {context.expected_device} there, or pin or upgrade {package.name}"


def _moved_by_project(context: Context) -> Cause | None:
    if context.origin is None or context.origin.kind != "moved":
        return None
    return Cause(
        "moved-to-other-device",
        f"{context.origin_code}{context.at_origin} moved {context.name} to {context.device}, and"
        f" {peer_clause(context)} on {context.expected_device}.",
    )


def _created_on_device(context: Context) -> Cause | None:
    if context.origin is None or context.origin.kind != "created" or context.origin.position is None:
        return None
    call = call_at(context.origin.position)
    device = next((each for each in call.keywords if each.arg == "device"), None) if call else None
    peer = f"{peer_clause(context)} on {context.expected_device}"
    if device is None:
        if not context.value.on_cpu:
            return None
        return Cause(
            "created-without-device",
            f"{context.name} was {origin_clause(context)} without a device{_despite_default(context)}, so on the CPU;"
            f" {peer}.",
        )
    return Cause(
        "created-on-literal-device" if isinstance(device.value, ast.Constant) else "created-on-variable-device",
        f"{context.name} was {origin_clause(context)}, where `{ast.unparse(device.value)}` is {context.device};"
        f" {peer}.",
    )


def _despite_default(context: Context) -> str:
    """Return why the default device does not apply to the origin, as part of a sentence; empty if none is set."""
    default = context.failure.default_device
    if default is None or not default.stack or default.device == "cpu" or context.origin is None:
        return ""
    setting = f"`{expression(default.stack[0])}` at {default.stack[0]}"
    return f", before {setting}" if context.origin.index < default.index else f", and it ignores {setting}"


def _unclassified(context: Context) -> Cause:
    created = f"was {origin_clause(context)}, on {context.device}" if context.origin else f"is on {context.device}"
    return Cause("unclassified", f"{context.name} {created}, and {peer_clause(context)} on {context.expected_device}.")


_DETECTORS: tuple[Callable[[Context], Cause | None], ...] = (
    _requires_cpu,
    _between_accelerators,
    _optimizer_state,
    *part_causes.DETECTORS,
    _discarded_copy,
    _copied_before_move,
    _batch,
    _created_by_package,
    _plain_attribute,
    detect_load,
    _moved_by_project,
    _created_on_device,
    _unclassified,
)
