"""Calls with a hard-coded device that conflicts with the device the program chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, CPU, Device, Pointer, Tensor, Value, alternatives
from devfix.analysis.observations import DeviceAssignment, DeviceMismatch
from devfix.analysis.scenarios import device_argument_of, literal_device
from devfix.analysis.scopes import asks_for_accelerator, device_of, value_of
from devfix.fixes.devices.accelerator_programs import is_for_accelerators
from devfix.fixes.devices.derived_devices import is_computed_device, passed_device, restores_device
from devfix.fixes.devices.model_parallel import is_model_parallel
from devfix.fixes.insertion_point import enclosing
from devfix.fixes.module_weights import weight_devices
from devfix.fixes.modules.cpu_offload import offload_move
from devfix.fixes.vendored_code import foreign_part
from devfix.syntax.tree import SourceTree, text_of, walk

__all__ = ["DeviceConflict", "chooses_device", "device_conflicts", "is_intended", "is_load"]

_HOST_METHODS = ("numpy", "tolist", "item", "data_ptr")
_DEVICE_WORDS = ("cuda", "gpu", "device", "accel", "mps", "cpu", "xpu", "npu", "parallel", "dist", "rank", "apex")


@dataclass(frozen=True, eq=False)
class DeviceConflict:
    """A call with a hard-coded device.

    ``device`` is that device. ``point`` is the call in the main run, ``scenario_point`` the call in the scenario that
    shows the conflict (the same point if the main run shows it). ``certain``: the program fails as written. ``choice``:
    a move that shows the program's own device. ``was_on_accelerator``: the value comes from the accelerator, or may.
    ``passed``: the hard-coded argument of the function that makes the call.
    """

    call: ast.Call
    point: ProgramPoint
    scenario_point: ProgramPoint
    device: Device
    certain: bool
    choice: ProgramPoint | None = None
    mismatch: DeviceMismatch | None = None
    was_on_accelerator: bool = False
    passed: ast.expr | None = None

    @property
    def place(self) -> tuple[SourceTree, ast.expr]:
        """The hard-coded device, or the call with one, and its file."""
        if self.passed is None:
            return self.point.tree, self.call
        return self.point.call_stack[-2].tree, self.passed

    @property
    def is_used_elsewhere(self) -> bool:
        """Whether another function uses the value."""
        here = self.point.call_frame.activation.node
        return self.mismatch is not None and self.mismatch.point.call_frame.activation.node is not here

    @property
    def partners(self) -> list[str]:
        """The other operands of the mismatch, as written in the function of the call."""
        if self.mismatch is None or self.is_used_elsewhere:
            return []
        return [operand.text for operand in (*self.mismatch.cpu, *self.mismatch.accelerator) if operand.text != "…"]

    def has_program_device(self, text: str, call_frame: CallFrame | None = None) -> bool:
        """Whether ``text`` is, in the scenario, a device, tensor or module on the device that the call should use."""
        if isinstance(self.call.func, ast.Attribute) and ast.unparse(self.call.func.value) == text:
            return False
        try:
            node = ast.parse(text, mode="eval").body
        except SyntaxError:
            return False
        frame = call_frame or self.scenario_point.call_frame
        value = value_of(self.scenario_point, frame, node)
        if value is None and isinstance(node, ast.Attribute) and node.attr == "device":
            value = value_of(self.scenario_point, frame, node.value)  # the device of a model that knows it
        expected_devices = {CPU} if self.device == ACCELERATOR else {ACCELERATOR}
        return value is not None and _devices_of(self.scenario_point, value) == expected_devices


def _devices_of(point: ProgramPoint, value: Value) -> set[object]:
    found: set[object] = set()
    for option in alternatives(value):
        if isinstance(option, Tensor):
            found.add(option.device)
        elif isinstance(option, Pointer):
            found |= weight_devices(point, option)
        else:
            found.add(device_of(option))
    return found


def is_load(call: ast.Call) -> bool:
    """Whether a call reads a file: another rule checks its device."""
    return ast.unparse(call.func).split(".")[-1] in ("load", "load_file", "safe_open")


# --- conflicts ------------------------------------------------------------------------------------------------------
def device_conflicts(observations: Observations) -> Iterator[DeviceConflict]:
    """Yield each call whose device conflicts with the device that the program chooses."""
    found: dict[ast.expr, DeviceConflict] = {}
    for conflict in (
        *_without_accelerator(observations),
        *_with_other_index(observations),
        *_left_on_cpu(observations),
    ):
        tree, place = conflict.place
        if not foreign_part(tree.path):
            found.setdefault(place, conflict)
    yield from found.values()


def _without_accelerator(observations: Observations) -> Iterator[DeviceConflict]:
    """Yield unguarded accelerator moves in a program that runs on the CPU if there is no accelerator."""
    scenario = observations.no_accelerator
    if (
        scenario is None
        or not observations.checks_availability
        or (observations.foreign_index is None and _uses_several_accelerators(observations))
    ):
        return
    choices = list(_choices(observations, scenario))
    if not choices or is_for_accelerators(observations, choices):
        return
    for call, by_device in scenario.device_assignments.items():
        assignment, known = by_device.get(ACCELERATOR), observations.device_assignments.get(call, {}).get(ACCELERATOR)
        device_argument = device_argument_of(call)
        if device_argument is not None and ast.unparse(device_argument) == observations.preferred_device:
            continue  # the configured device
        if (
            device_argument is not None
            and observations.foreign_index is not None
            and literal_device(device_argument) == observations.foreign_index
        ):
            continue  # a second accelerator, without a mismatch
        passed = None
        if known is not None and device_argument is not None and _is_passed(known, device_argument):
            passed = _literal_of_caller(known, device_argument)
            if passed is None:
                continue  # the device of a caller, which names it
        if known is not None and (known.moves_nothing or known.latent or is_intended(known)):
            continue
        if CPU in by_device:
            continue  # it follows a value, which another call has moved
        if assignment is not None and known is not None:
            yield DeviceConflict(call, known.point, assignment.point, ACCELERATOR, True, choices[0], passed=passed)


def _is_passed(assignment: DeviceAssignment, device_argument: ast.expr) -> bool:
    return passed_device(assignment.point, device_argument)[0] is not assignment.point.call_frame


def _literal_of_caller(assignment: DeviceAssignment, device_argument: ast.expr) -> ast.expr | None:
    """Return the hard-coded device that the program itself, outside all functions, passes to the one that moves."""
    frame, passed = passed_device(assignment.point, device_argument)
    is_of_program = len(assignment.point.call_stack) == 2 and frame is assignment.point.call_stack[0]
    return passed if is_of_program and literal_device(passed) is not None else None


def chooses_device(observations: Observations) -> bool:
    """Whether a value goes to the accelerator if there is one, and stays on the CPU, or is not moved, if not."""
    scenario = observations.no_accelerator
    return scenario is not None and next(_choices(observations, scenario), None) is not None


def _uses_several_accelerators(observations: Observations) -> bool:
    """Whether moves name ``cuda:1`` explicitly: the program then distributes its tensors on purpose."""
    device_arguments = (
        device_argument_of(call) for call, devices in observations.device_assignments.items() if ACCELERATOR in devices
    )
    literals = (literal_device(device_argument) for device_argument in device_arguments if device_argument is not None)
    return any(text is not None and text.partition(":")[2] not in ("", "0") for text in literals)


def _choices(observations: Observations, scenario: Observations) -> Iterator[ProgramPoint]:
    """Yield moves to the accelerator that go to the CPU, or do not run, if there is none."""
    for call, by_device in observations.device_assignments.items():
        assignment = by_device.get(ACCELERATOR)
        if assignment is None or assignment.latent or is_load(call) or _moves_back(assignment):
            continue
        if enclosing(assignment.point.tree, assignment.point.stmt, (ast.Try,)):
            continue  # a trial, which may fail
        device_argument = device_argument_of(call)
        if device_argument is not None and is_computed_device(assignment.point, device_argument):
            continue
        devices_without_accelerator = scenario.device_assignments.get(call, {})
        if ACCELERATOR not in devices_without_accelerator and (
            CPU in devices_without_accelerator or _is_under_accelerator_check(assignment.point)
        ):
            yield assignment.point


def _moves_back(assignment: DeviceAssignment) -> bool:
    """Return whether the function itself has moved the value to the CPU before, to save it or to read it."""
    function, line = assignment.call.func, assignment.point.span.line
    if not isinstance(function, ast.Attribute):
        return False
    text = ast.unparse(function.value)
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "cpu"
        and node.lineno < line
        and ast.unparse(node.func.value) == text
        for node in walk(assignment.point.tree.function(assignment.call))
    )


def _is_under_accelerator_check(point: ProgramPoint) -> bool:
    tests = [stmt.test for stmt in enclosing(point.tree, point.stmt, (ast.If,)) if isinstance(stmt, ast.If)]
    tests += [node.test for node in point.tree.ancestors(point.node) if isinstance(node, ast.IfExp)]
    return any(asks_for_accelerator(test) for test in tests)


def is_intended(assignment: DeviceAssignment) -> bool:
    """Whether a move checks for the accelerator, or follows another value's device."""
    return _follows_value(assignment) or _is_guarded(assignment.point)


def _is_guarded(point: ProgramPoint) -> bool:
    """Whether a condition on the way to a program point may check for the accelerator."""
    for call_frame in point.call_stack:
        for parent in (call_frame.stmt, *call_frame.tree.ancestors(call_frame.stmt)):
            if isinstance(parent, ast.Try):
                return True
            if (
                isinstance(parent, (ast.If, ast.While))
                and parent is not call_frame.stmt
                and _mentions_device(parent.test)
            ):
                return True
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                break
    for parent in point.tree.ancestors(point.node):
        if isinstance(parent, (ast.IfExp, ast.If, ast.While)) and _mentions_device(parent.test):
            return True
        if isinstance(parent, ast.BoolOp):
            return True
        if isinstance(parent, ast.stmt):
            break
    return False


def _mentions_device(test: ast.expr) -> bool:
    text = ast.unparse(test).lower()
    return any(word in text for word in _DEVICE_WORDS)


def _with_other_index(observations: Observations) -> Iterator[DeviceConflict]:
    """Yield ``cuda`` in programs with a configured index, and ``cuda:1`` in programs that choose their device."""
    scenario = observations.no_accelerator
    checks_availability = observations.checks_availability and observations.foreign_index is None
    if scenario is None or checks_availability or observations.sets_current_device or is_model_parallel(observations):
        return
    known = {(mismatch.point.key, operand.text) for mismatch in observations.mismatches for operand in mismatch.cpu}
    calls = list(scenario.device_assignments)
    for mismatch in scenario.mismatches:
        if any((mismatch.point.key, operand.text) in known for operand in mismatch.cpu):
            continue
        for operand in mismatch.accelerator:
            if _is_scattered(observations, mismatch, operand.text):
                continue
            moved = [calls[origin.site_id] for origin in operand.origins if origin.kind == "moved"]
            if operand.module is not None and mismatch.point.state is not None:
                point = mismatch.point.state.heap_object(operand.module).last_moved_at
                moved = [point.node] if point is not None and isinstance(point.node, ast.Call) else []
            moved = moved or _only_accelerator_call(observations, scenario)
            for call in moved if not observations.checks_availability else _with_foreign_index(observations, moved):
                by_device, scenario_devices = (
                    observations.device_assignments.get(call, {}),
                    scenario.device_assignments.get(call, {}),
                )
                if ACCELERATOR in by_device and ACCELERATOR in scenario_devices and not by_device[ACCELERATOR].latent:
                    points = by_device[ACCELERATOR].point, scenario_devices[ACCELERATOR].point
                    certain = observations.has_fixed_index
                    yield DeviceConflict(call, *points, ACCELERATOR, certain, _other_move(scenario, mismatch), mismatch)


def _is_scattered(observations: Observations, mismatch: DeviceMismatch, text: str) -> bool:
    """Return whether a module that scatters its inputs gets an operand, or leads to its use.

    It moves its inputs to the accelerator of its module.
    """
    if not observations.scattered:
        return False
    *outer, innermost = mismatch.point.call_stack
    given = (node for node in walk(innermost.stmt) if isinstance(node, ast.expr) and text_of(node) == text)
    through = (node for call_frame in outer for node in walk(call_frame.stmt))
    return any(node in observations.scattered for node in (*given, *through))


def _only_accelerator_call(observations: Observations, scenario: Observations) -> list[ast.Call]:
    """Return the only accelerator call with the conflicting index; empty if there are others.

    The output of a module has no origin that names a move, so this is the only call that can explain its device.
    """
    accelerator_calls = [call for call, devices in scenario.device_assignments.items() if ACCELERATOR in devices]
    return accelerator_calls if len(accelerator_calls) == 1 and _is_foreign(observations, accelerator_calls[0]) else []


def _with_foreign_index(observations: Observations, moved: list[ast.Call]) -> Iterator[ast.Call]:
    """Yield the moves that name the conflicting index in the functions of ``moved``, which must change together."""
    functions = {
        observations.device_assignments[call][ACCELERATOR].point.call_frame.activation.node
        for call in moved
        if _is_foreign(observations, call)
    }
    foreign = [call for call in observations.device_assignments if functions and _is_foreign(observations, call)]
    return (
        call
        for call in foreign
        if observations.device_assignments[call][ACCELERATOR].point.call_frame.activation.node in functions
    )


def _is_foreign(observations: Observations, call: ast.Call) -> bool:
    device_argument = device_argument_of(call)
    if device_argument is None or ACCELERATOR not in observations.device_assignments.get(call, {}):
        return False
    return literal_device(device_argument) == observations.foreign_index


def _other_move(scenario: Observations, mismatch: DeviceMismatch) -> ProgramPoint | None:
    """Return the move of the module on the other side of the mismatch."""
    for operand in mismatch.cpu:
        if operand.module is not None and mismatch.point.state is not None:
            return mismatch.point.state.heap_object(operand.module).last_moved_at
    return None


def _left_on_cpu(observations: Observations) -> Iterator[DeviceConflict]:
    """Yield ``.to("cpu")`` and ``.cpu()`` calls whose result is used on the accelerator."""
    calls = list(observations.device_assignments)
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            call: ast.AST | None = None
            if operand.module is not None and mismatch.point.state is not None:
                moved = mismatch.point.state.heap_object(operand.module).last_moved_at
                if moved is None or moved.state is None or _was_on_accelerator(moved, operand.module):
                    continue  # never moved, moved by a framework, or to be moved back
                if offload_move(observations, mismatch.point, operand.module):
                    continue  # kept on the CPU on purpose: reported by DEV602
                call = moved.node
            elif len(operand.origins) == 1 and operand.origins[0].kind == "moved":
                call = calls[operand.origins[0].site_id]
            elif len(operand.origins) == 1 and operand.origins[0].kind == "made":
                call = observations.sources[operand.origins[0].site_id].point.node
            assignment = _cpu_assignment(observations, call)
            is_attribute = any(origin.attribute_id for origin in operand.origins)
            if assignment is None or _feeds_host(assignment):
                continue
            if not is_attribute and operand.is_certain and not _follows_value(assignment):
                was_on_accelerator = assignment.source not in (CPU, None)
                point, certain = assignment.point, mismatch.on_every_path and not mismatch.latent
                yield DeviceConflict(assignment.call, point, point, CPU, certain, None, mismatch, was_on_accelerator)


def _follows_value(assignment: DeviceAssignment) -> bool:
    """Whether a value is moved to the current or former device of another value (``x.device``, ``to(x)``)."""
    function = assignment.call.func
    if restores_device(assignment.point) or (isinstance(function, ast.Attribute) and function.attr == "type_as"):
        return True
    device_argument = device_argument_of(assignment.call)
    if device_argument is None:
        return False
    frame, device_argument = passed_device(assignment.point, device_argument)
    if isinstance(value_of(assignment.point, frame, device_argument), Tensor):
        return True
    if not isinstance(device_argument, ast.Attribute) or device_argument.attr != "device":
        return False
    base, state = value_of(assignment.point, frame, device_argument.value), assignment.point.state
    declared = isinstance(base, Pointer) and state is not None and "device" in state.heap_object(base).fields
    return not declared


def _feeds_host(assignment: DeviceAssignment) -> bool:
    """Whether the host reads the result: ``x.cpu().numpy()``."""
    outer = assignment.point.tree.parents.get(assignment.call)
    return isinstance(outer, ast.Attribute) and outer.attr in _HOST_METHODS


def _was_on_accelerator(moved: ProgramPoint, module: Pointer) -> bool:
    """Whether a module came from the accelerator: another rule checks that it is moved back."""
    assert moved.state is not None
    return not moved.state.has(module.id) or ACCELERATOR in weight_devices(moved, module)


def _cpu_assignment(observations: Observations, call: ast.AST | None) -> DeviceAssignment | None:
    if not isinstance(call, ast.Call):
        return None
    by_device = observations.device_assignments.get(call, {})
    return by_device.get(CPU) if ACCELERATOR not in by_device else None
