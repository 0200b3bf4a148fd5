"""Conditions: their outcome in the scenario, by default with one accelerator and one process."""

from __future__ import annotations

import ast
import operator
from functools import partial
from typing import TYPE_CHECKING

from devfix.analysis.accelerator_counts import (
    at_least_one,
    by_device_count,
    compare_order,
    counts_accelerators,
    has_none,
    is_device_count,
    lists_accelerators,
    with_several,
)
from devfix.analysis.domain.objects import Container, Mapping, object_at
from devfix.analysis.domain.path_conditions import (
    condition_key,
    condition_symbol,
    implied,
    is_negative,
    passes_arguments,
)
from devfix.analysis.domain.scenario import ONE_ACCELERATOR
from devfix.analysis.domain.type_names import have_equal_types
from devfix.analysis.domain.values import (
    ACCELERATOR,
    CPU,
    FIRST_ROUND,
    LATER_ROUND,
    NONE,
    UNNAMED,
    Bound,
    Builtin,
    ClassValue,
    Const,
    DeviceValue,
    External,
    Function,
    IterableOf,
    Namespace,
    Number,
    Parameters,
    Pointer,
    Tensor,
    Text,
    TupleValue,
    Union,
    Unknown,
    Value,
    alternatives,
)
from devfix.analysis.transfer.device_arguments import device_by_symbol
from devfix.models.flags import MULTI_PROCESS_FLAGS, asks_for_accelerator, asks_for_tpu
from devfix.syntax.node_caches import node_cache
from devfix.syntax.tree import text_of, walk

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["compares_tensors", "flag_value", "is_switched_off", "tests_device", "truth", "truth_of", "unknown_leaves"]

_LAUNCHER_VARIABLES = frozenset("RANK WORLD_SIZE LOCAL_RANK SLURM_PROCID MASTER_ADDR".split())
_ACCELERATOR_NAMES = ("cuda", "gpu", "mps", "xpu", "npu")
_OTHER_BACKENDS = frozenset({"mps", "xpu", "npu"})
_MANY = 1000  # more accelerators than machines have


def flag_value(symbol: str, multi_process: bool = False) -> bool | None:
    """Return the assumed value of a flag of this name; ``None`` if the name selects no configuration.

    With ``multi_process``, flags that select several processes are true.
    """
    if symbol.startswith(UNNAMED):
        return None
    last = _last_part(symbol)
    if last in MULTI_PROCESS_FLAGS:
        return multi_process
    return asks_for_accelerator(last)


def _last_part(symbol: str) -> str:
    return symbol.replace("-", "_").split(".")[-1].split("#")[0].strip("'\"[]()").lower()


def _flag_in_scenario(interp: Interpreter, symbol: str) -> bool | None:
    """Return the value of a flag in the current scenario: without an accelerator, users ask for the CPU."""
    if not symbol.startswith(UNNAMED) and asks_for_tpu(_last_part(symbol)):
        return False
    value = flag_value(symbol)
    if value is False and flag_value(symbol, multi_process=True):
        return with_several(interp, one=False, several=True)
    return value if value is None else value is not interp.scenario.no_accelerator


def truth(interp: Interpreter, test: ast.expr) -> bool | None:
    """Evaluate a condition; return ``None`` if both outcomes are possible."""
    if isinstance(test, ast.BoolOp):
        return _boolean(interp, test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        if isinstance(test.operand, ast.Name) and interp.lookup(test.operand.id) == Const(False):
            return True
        inner = truth(interp, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        outcome = _compare(interp, test)
    else:
        value = interp.evaluate(test)
        outcome = None if _is_switch(test, value) else truth_of(interp, value)
        is_number = counts_accelerators(test) or is_device_count(interp, test)
        if outcome is None and (is_number or lists_accelerators(interp, test)):
            outcome = not has_none(interp)
    if outcome is not None:
        return outcome
    holds = interp.now.assumptions.get(condition_key(interp, test))
    return _named_flag(interp, test) if holds is None else holds is not is_negative(test)


def _named_flag(interp: Interpreter, test: ast.expr) -> bool | None:
    """Return what the followed run chooses for a name, ``if self._use_cuda:``, ``if has_gpu():``; ``None`` for others.

    Unlike options, other names (``dist``) do not say that there may be several processes.
    """
    named = test.func if isinstance(test, ast.Call) and not test.args and not test.keywords else test
    if not isinstance(named, (ast.Name, ast.Attribute)):
        return None
    last = (named.id if isinstance(named, ast.Name) else named.attr).lower().strip("_")
    if asks_for_tpu(last):
        return False
    asks = asks_for_accelerator(last) if last != "is_cuda" else None  # that is a tensor's, or a function's
    return None if asks is None else asks is not interp.scenario.no_accelerator


def _is_switch(test: ast.expr, value: Value) -> bool:
    """Return whether ``test`` is a switch that users edit (``LOAD_MODEL = False``): both values are possible."""
    return isinstance(test, ast.Name) and test.id.isupper() and value == Const(False) and flag_value(test.id) is None


def is_switched_off(interp: Interpreter) -> bool:
    """Return whether the current statement runs only if a user edits a switch: ``if LOAD_MODEL:``, which is off."""
    activation = interp.activation
    child: ast.AST | None = activation.stmt if activation is not None else None
    if activation is None or child is None:
        return False
    for parent in activation.module.tree.ancestors(child):
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
        if isinstance(parent, ast.If) and child in parent.body and _needs_switch(interp, parent.test):
            return True
        child = parent
    return False


def _needs_switch(interp: Interpreter, test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_needs_switch(interp, part) for part in test.values)
    return isinstance(test, ast.Name) and _is_switch(test, interp.lookup(test.id) or NONE)


def _boolean(interp: Interpreter, test: ast.BoolOp) -> bool | None:
    decisive = not isinstance(test.op, ast.And)  # the outcome that ends the evaluation
    outcomes: list[bool | None] = []
    for part in test.values:
        outcome = truth(interp, part)
        if outcome is decisive:
            return decisive
        outcomes.append(outcome)
    return None if None in outcomes else not decisive


def truth_of(interp: Interpreter, value: Value) -> bool | None:
    """Return the truth value of a value; ``None`` if unknown."""
    match value:
        case Const(constant):
            return bool(constant)
        case Number(symbol) if symbol.startswith(LATER_ROUND) and symbol.endswith(":0"):
            return True
        case Unknown(symbol) | Number(symbol) | Text(symbol):
            assumed = interp.now.assumptions.get(symbol) if symbol else None
            return _flag_in_scenario(interp, symbol) if assumed is None and symbol else assumed
        case Builtin():
            symbol = condition_symbol(interp, value)
            return truth_of(interp, Unknown(symbol)) if symbol else True
        case External(name) if asks_for_tpu(_last_part(name)):
            return False
        case DeviceValue() | Function() | ClassValue() | Namespace() | External() | Bound():
            return True
        case Pointer():
            return interp.heap_object(value).truth()
        case TupleValue(items):
            return bool(items)
        case Union(alternatives):
            outcomes = {truth_of(interp, option) for option in alternatives}
            return outcomes.pop() if len(outcomes) == 1 else None
        case _:
            return None


def _compare(interp: Interpreter, test: ast.Compare) -> bool | None:
    left, op, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(left, ast.Name) and left.id == "__name__":
        left_value: Value = interp.lookup("__name__") or Unknown()
    else:
        left_value = interp.evaluate(left)
    right_value = interp.evaluate(right)
    outcome = _by_round(op, left_value, text_of(right))
    if outcome is not None:
        return outcome
    if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        equal = False if _is_other_backend(interp, left_value, right_value) else _equal(left_value, right_value)
        if interp.scenario.no_accelerator and _compares_with_no_index(left_value, right_value):
            equal = True
        if _is_rank(left, left_value) and right_value in (Const(0), Const(-1)):
            equal = with_several(interp, one=equal, several=False)
        if equal is None and is_device_count(interp, left) and isinstance(right_value, Const):
            equal = by_device_count(interp, operator.eq, right_value)
        if equal is None and counts_accelerators(left) and right_value == Const(0):
            equal = interp.scenario.no_accelerator
        if equal is None and isinstance(op, (ast.Eq, ast.NotEq)):
            same = have_equal_types(interp, left, right)
            equal = implied(interp, test) if same is None else same
        if equal is None and interp.scenario == ONE_ACCELERATOR and _is_device(left, left_value):
            equal = False if right_value == Const("cpu") else True if right_value == Const("cuda") else None
        if equal is None and right_value == NONE and _is_configured_device(interp, left_value):
            equal = False
        if equal is None and isinstance(left_value, (Text, Unknown, External)) and isinstance(right_value, Const):
            equal = _chosen(interp, left_value, right_value.value)
        negative = isinstance(op, (ast.IsNot, ast.NotEq))
        return None if equal is None else equal is not negative
    if isinstance(op, (ast.In, ast.NotIn)):
        inside = _contains(interp, left_value, right_value)
        if inside is None and isinstance(right_value, (Text, Union)) and "device" in text_of(right).lower():
            inside = False if _names_other_backend(interp, left_value) else None
        if inside is None:
            inside = implied(interp, test)
        return None if inside is None else inside is isinstance(op, ast.In)
    if isinstance(left_value, Const) and isinstance(right_value, Const):
        return compare_order(op, left_value.value, right_value.value)
    is_count = is_device_count(interp, left) or (interp.scenario.multi_accelerator and counts_accelerators(left))
    if counts_accelerators(left) and isinstance(right_value, Const) and not is_count:
        return at_least_one(interp, op, right_value)
    if not isinstance(left_value, Const) and isinstance(right_value, Const) and is_count:
        return by_device_count(interp, partial(compare_order, op), right_value)
    if counts_accelerators(right) and isinstance(op, ast.Lt) and interp.scenario.no_accelerator:
        return False  # ``index < torch.cuda.device_count()``
    if left_value == DeviceValue(ACCELERATOR) and isinstance(right_value, Const):
        outcomes = {compare_order(op, index, right_value.value) for index in (0, _MANY)}  # ``x.get_device() >= 0``
        return outcomes.pop() if len(outcomes) == 1 else None
    if _is_index(left_value) and isinstance(right_value, Const):
        if interp.scenario.no_accelerator:
            return {ast.GtE: False, ast.Gt: False, ast.Lt: True}.get(type(op)) if right_value.value == 0 else None
        if right_value.value in (0, -1) and isinstance(op, (ast.GtE, ast.Gt)):
            return True if not (isinstance(op, ast.Gt) and right_value.value == 0) else None
        if right_value.value == 0 and isinstance(op, ast.Lt):
            return False
    return None


def _by_round(op: ast.cmpop, counter: Value, text: str) -> bool | None:
    """Compare the counter of a loop with the start of the loop: ``epoch > start_epoch`` holds from the second round."""
    if not isinstance(counter, Number) or not counter.symbol.startswith((FIRST_ROUND, LATER_ROUND)):
        return None
    if counter.symbol.split(":", 2)[2] != text:
        return None
    is_first = counter.symbol.startswith(FIRST_ROUND)
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return is_first is isinstance(op, ast.Eq)
    return compare_order(op, 0 if is_first else 1, 0)


def _is_configured_device(interp: Interpreter, value: Value) -> bool:
    """Return whether a value of a configuration is the device of the followed run: ``cfg["device"]``."""
    if not isinstance(value, Unknown) or interp.observations.is_library:
        return False
    return "device" in value.symbol.rpartition(".")[2] and device_by_symbol(value.symbol) == ACCELERATOR


def _chosen(interp: Interpreter, option: Value, value: object) -> bool | None:
    """Return whether an option has the value that the followed run chooses: ``ctx == "gpu"``, ``gpu is False``."""
    if value in ("cpu", "cuda", "gpu"):
        return (value == "cpu") is interp.scenario.no_accelerator
    holds = truth_of(interp, option) if isinstance(value, bool) else None
    return None if holds is None else holds is value


def _is_rank(node: ast.expr, value: Value) -> bool:
    """Return whether an expression is a process rank: ``local_rank``, ``dist.get_rank()``."""
    return isinstance(value, (Number, Unknown)) and "rank" in text_of(node).lower()


def _is_device(node: ast.expr, value: Value) -> bool:
    """Return whether an expression is the kind of a device that may be the accelerator's: ``module.device.type``."""
    options = alternatives(value)
    is_open = all(
        isinstance(each, Unknown) or (isinstance(each, DeviceValue) and each.device != CPU) for each in options
    )
    return is_open and text_of(node).endswith("device.type")


def _is_index(value: Value) -> bool:
    """Return whether a value is the index of an accelerator: ``args.gpu``, ``args.gpu_ids[0]``."""
    is_item = isinstance(value, Unknown) and value.symbol.rpartition(".")[2].lstrip("-").isdigit()
    return (isinstance(value, Number) or is_item) and _names_accelerator(getattr(value, "symbol", ""))


def _names_accelerator(symbol: str) -> bool:
    if symbol.startswith(UNNAMED):
        return False
    last = next((part for part in reversed(symbol.split(".")) if not part.lstrip("-").isdigit()), "").lower()
    return any(word in last for word in ("gpu", "cuda", "device"))


def _equal(left: Value, right: Value) -> bool | None:
    if isinstance(left, Union) or isinstance(right, Union):
        outcomes = {_equal(one, two) for one in alternatives(left) for two in alternatives(right)}
        return outcomes.pop() if len(outcomes) == 1 else None
    if isinstance(left, Const) and isinstance(right, Const):
        return bool(left.value == right.value)
    if isinstance(right, (DeviceValue, Const)) and isinstance(left, DeviceValue):
        return _same_device(left, right)
    if isinstance(left, Const) and isinstance(right, DeviceValue):
        return _same_device(right, left)
    constant, other = (left, right) if isinstance(left, Const) else (right, left)
    if isinstance(constant, Const) and isinstance(other, Text) and other.choices:
        return None if constant.value in other.choices else False
    if isinstance(constant, Const) and constant.value is None:
        if isinstance(
            other, (Pointer, Tensor, Function, ClassValue, TupleValue, Bound, Parameters, IterableOf, External)
        ):
            return False
        if isinstance(other, Number) and _names_accelerator(other.symbol):
            return False
    if isinstance(constant, Const) and constant.value == -1 and isinstance(other, Number):
        return False if _names_accelerator(other.symbol) else None
    if isinstance(left, ClassValue | Function | External) and isinstance(right, ClassValue | Function | External):
        return left == right
    return None


def _compares_with_no_index(left: Value, right: Value) -> bool:
    """Return whether a comparison tests for CPU mode: ``args.gpu is None``, ``args.gpu == -1``."""
    index, other = (left, right) if isinstance(left, Number) else (right, left)
    return isinstance(index, Number) and _names_accelerator(index.symbol) and other in (Const(None), Const(-1))


def _same_device(device: DeviceValue, other: DeviceValue | Const) -> bool | None:
    if isinstance(other, DeviceValue):
        if device.device.kind != other.device.kind and device.device.known and other.device.known:
            return False
        return None
    if other.value is None:
        return False
    if isinstance(other.value, int) and other.value < 0:
        return False if device.device != CPU and device.device.known else None  # the index of the CPU is -1
    if not isinstance(other.value, str) or not device.device.known:
        return None
    if other.value == "cpu":
        return device.device == CPU
    if other.value.startswith("cuda"):
        return device.device != CPU
    return False if device.device == CPU else None


def _is_other_backend(interp: Interpreter, device: Value, name: Value) -> bool:
    """Return whether a device is compared with ``"mps"`` in a program that names CUDA, the accelerator then."""
    return isinstance(device, DeviceValue) and device.device != CPU and _names_other_backend(interp, name)


def _names_other_backend(interp: Interpreter, name: Value) -> bool:
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return False
    is_named = name.value.split(":")[0] in _OTHER_BACKENDS
    return is_named and any("cuda" in tree.text for tree in interp.program.trees())


def _contains(interp: Interpreter, item: Value, container: Value) -> bool | None:
    if isinstance(item, Const) and isinstance(item.value, str):
        if item.value in _LAUNCHER_VARIABLES:
            return with_several(interp, one=False, several=True)
        if isinstance(container, DeviceValue):
            if _is_other_backend(interp, container, item):
                return False
            if any(word in item.value for word in _ACCELERATOR_NAMES):
                return container.device != CPU if container.device.known else None
            return container.device == CPU if item.value == "cpu" and container.device.known else None
        texts = [option.value for option in alternatives(container) if isinstance(option, Const)]
        if len(texts) == len(alternatives(container)) and all(isinstance(text, str) for text in texts):
            found = {item.value in text for text in texts}
            return found.pop() if len(found) == 1 else None
    items = _items(interp, container)
    if items and all(isinstance(each, External) for each in (*alternatives(item), *items)):
        outcomes = {each in items for each in alternatives(item)}  # ``type(x) in (list, tuple)``
        return outcomes.pop() if len(outcomes) == 1 else None
    if isinstance(item, Text) and item.choices and items is not None and all(isinstance(each, Const) for each in items):
        found = {Const(choice) in items for choice in item.choices}
        return found.pop() if len(found) == 1 else None
    if isinstance(item, Const) and items is not None and all(isinstance(each, Const) for each in items):
        return item.value in [each.value for each in items if isinstance(each, Const)]
    mapping = object_at(interp, container, Mapping)
    if mapping is not None and isinstance(item, Const) and mapping.default_item is None:
        return str(item.value) in mapping.fields
    return None


def _items(interp: Interpreter, container: Value) -> list[Value] | None:
    """Return the items of a tuple, list or set; ``None`` if they are not all known."""
    if isinstance(container, TupleValue):
        return list(container.items)
    obj = object_at(interp, container, Container)
    if obj is None or isinstance(obj, Mapping) or obj.default_item is not None:
        return None
    return list(obj.fields.values())


def unknown_leaves(interp: Interpreter, test: ast.expr) -> list[ast.expr]:
    """Return the conditions that an undecided test combines, without the flags among them that the path decides."""
    if isinstance(test, ast.BoolOp):
        is_open = [part for part in test.values if isinstance(part, ast.Compare) or not _is_decided(interp, part)]
        return [leaf for part in is_open for leaf in unknown_leaves(interp, part)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return unknown_leaves(interp, test.operand)
    return [test]


def _is_decided(interp: Interpreter, part: ast.expr) -> bool:
    return not passes_arguments(part) and truth(interp, part) is not None


def compares_tensors(test: ast.expr) -> bool:
    """Return whether a condition compares the devices of two tensors: ``x.device == y.device``."""
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
    return bool(sides) and all(isinstance(side, ast.Attribute) and side.attr == "device" for side in sides)


@node_cache(16384)
def tests_device(test: ast.expr) -> bool:
    """Return whether a condition tests a device: ``not x.is_cuda``, ``p.device != device``."""
    names = {node.attr for node in walk(test) if isinstance(node, ast.Attribute)}
    return not names.isdisjoint(("is_cuda", "is_cpu", "get_device")) or (
        "device" in names and any(isinstance(node, ast.Compare) for node in walk(test))
    )
