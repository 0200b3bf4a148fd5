"""Calls that hard-code a device beside one that the program chooses: which they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.analysis import Observations
from devfix.analysis.domain.location import CallFrame, ProgramPoint
from devfix.analysis.domain.values import ACCELERATOR, CPU, Device, Pointer, Tensor, Value, alternatives
from devfix.analysis.move_observations import DeviceAssignment
from devfix.analysis.observations import DeviceMismatch
from devfix.analysis.scenarios import device_words, literal
from devfix.analysis.scopes import asks_for_accelerator, device_of, value_of
from devfix.fixes.devices.derived_devices import puts_back
from devfix.fixes.devices.model_parallel import in_halves
from devfix.fixes.insertion_point import enclosing
from devfix.fixes.modules.cpu_offload import stays
from devfix.fixes.value_scope import weight_devices
from devfix.fixes.vendored_code import foreign_part

__all__ = ["Contradiction", "contradictions", "loads"]

_WORDS_OF_CHOICE = ("cuda", "gpu", "device", "accel", "mps", "cpu", "xpu", "npu", "parallel", "dist", "rank", "apex")


@dataclass(frozen=True, eq=False)
class Contradiction:
    """A call that hard-codes its device.

    ``device`` is what it says, ``point`` the moment in the followed run and ``other`` that on the second machine (the
    same where the followed run shows it).  ``certain``: the program fails with what it says of itself; ``parked``: the
    value comes from the accelerator.
    """

    call: ast.Call
    point: ProgramPoint
    other: ProgramPoint
    device: Device
    certain: bool
    choice: ProgramPoint | None = None
    mismatch: DeviceMismatch | None = None
    parked: bool = False

    @property
    def partners(self) -> list[str]:
        """What the value meets, in the words of the function that places it."""
        if (
            self.mismatch is None
            or self.mismatch.point.call_frame.activation.node is not self.point.call_frame.activation.node
        ):
            return []
        return [operand.text for operand in (*self.mismatch.cpu, *self.mismatch.accelerator) if operand.text != "…"]

    def fits(self, text: str, call_frame: CallFrame | None = None) -> bool:
        """Whether a device, tensor or module at a level of ``other``, but what is moved, is not where the call says."""
        if isinstance(self.call.func, ast.Attribute) and ast.unparse(self.call.func.value) == text:
            return False
        try:
            node = ast.parse(text, mode="eval").body
        except SyntaxError:
            return False
        value = value_of(self.other, call_frame or self.other.call_frame, node)
        wanted = {CPU} if self.device == ACCELERATOR else {ACCELERATOR}
        return value is not None and _places(self.other, value) == wanted


def _places(point: ProgramPoint, value: Value) -> set[object]:
    found: set[object] = set()
    for option in alternatives(value):
        if isinstance(option, Tensor):
            found.add(option.device)
        elif isinstance(option, Pointer):
            found |= set(weight_devices(point, option, set()))
        else:
            found.add(device_of(option))
    return found


def loads(call: ast.Call) -> bool:
    """Whether a call reads a file: its device is another rule's matter."""
    return ast.unparse(call.func).split(".")[-1] in ("load", "load_file", "safe_open")


# --- what contradicts -----------------------------------------------------------------------------------------------
def contradictions(observations: Observations) -> Iterator[Contradiction]:
    """Every call that goes to another device than the one that the program chooses, each once."""
    found: dict[ast.Call, Contradiction] = {}
    for one in (*_without_accelerator(observations), *_of_another_index(observations), *_left_on_cpu(observations)):
        if not foreign_part(one.point.tree.path):
            found.setdefault(one.call, one)
    yield from found.values()


def _without_accelerator(observations: Observations) -> Iterator[Contradiction]:
    """Accelerators that are used without asking, in a program that runs on the CPU where there is none."""
    other = observations.no_accelerator
    if (
        other is None
        or not observations.asks_available
        or (observations.foreign_index is None and _names_more_than_one(observations))
    ):
        return
    choice = next(_choices(observations, other), None)
    if choice is None:
        return
    for call, by_place in other.device_assignments.items():
        placing, known = by_place.get(ACCELERATOR), observations.device_assignments.get(call, {}).get(ACCELERATOR)
        words = device_words(call)
        if words is not None and ast.unparse(words) == observations.preferred_device:
            continue  # the configuration says so
        if (
            words is not None
            and observations.foreign_index is not None
            and literal(words) == observations.foreign_index
        ):
            continue  # a second accelerator, as long as nothing meets
        if placing is not None and known is not None and not known.latent and not _spared(known):
            yield Contradiction(call, known.point, placing.point, ACCELERATOR, True, choice)


def _names_more_than_one(observations: Observations) -> bool:
    """Whether moves go to ``cuda:1`` by name: a program for several accelerators has thought of where things are."""
    said = (device_words(call) for call, devices in observations.device_assignments.items() if ACCELERATOR in devices)
    named = (literal(words) for words in said if words is not None)
    return any(text is not None and text.partition(":")[2] not in ("", "0") for text in named)


def _choices(observations: Observations, other: Observations) -> Iterator[ProgramPoint]:
    """Moves that go to the accelerator where there is one, and nowhere or to the CPU where there is none."""
    for call, by_place in observations.device_assignments.items():
        placing = by_place.get(ACCELERATOR)
        if placing is None or placing.latent:
            continue
        there = other.device_assignments.get(call, {})
        if ACCELERATOR not in there and (CPU in there or _asks_around(placing.point)):
            yield placing.point


def _asks_around(point: ProgramPoint) -> bool:
    tests = [stmt.test for stmt in enclosing(point.tree, point.stmt, (ast.If,)) if isinstance(stmt, ast.If)]
    tests += [node.test for node in point.tree.ancestors(point.node) if isinstance(node, ast.IfExp)]
    return any(asks_for_accelerator(test) for test in tests)


def _spared(placing: DeviceAssignment) -> bool:
    """Whether a move asks before it goes to the accelerator, or goes where another value is: no line says where."""
    return _follows(placing) or _guarded(placing.point)


def _guarded(point: ProgramPoint) -> bool:
    """Whether something on the way to a moment may ask for the accelerator: then its author has thought of it."""
    for call_frame in point.call_stack:
        for parent in (call_frame.stmt, *call_frame.tree.ancestors(call_frame.stmt)):
            if isinstance(parent, ast.Try):
                return True
            if (
                isinstance(parent, (ast.If, ast.While))
                and parent is not call_frame.stmt
                and _speaks_of_choice(parent.test)
            ):
                return True
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                break
    for parent in point.tree.ancestors(point.node):
        if isinstance(parent, (ast.IfExp, ast.If, ast.While)) and _speaks_of_choice(parent.test):
            return True
        if isinstance(parent, ast.BoolOp):
            return True
        if isinstance(parent, ast.stmt):
            break
    return False


def _speaks_of_choice(test: ast.expr) -> bool:
    text = ast.unparse(test).lower()
    return any(word in text for word in _WORDS_OF_CHOICE)


def _of_another_index(observations: Observations) -> Iterator[Contradiction]:
    """``cuda`` where the program works on ``cuda:1``, or on the index that it is told; ``cuda:1`` where it chooses."""
    other = observations.no_accelerator
    asked = observations.asks_available and observations.foreign_index is None
    if other is None or asked or observations.current_device or in_halves(observations):
        return
    known = {(mismatch.point.key, operand.text) for mismatch in observations.mismatches for operand in mismatch.cpu}
    calls = list(other.device_assignments)
    for mismatch in other.mismatches:
        if any((mismatch.point.key, operand.text) in known for operand in mismatch.cpu):
            continue
        for operand in mismatch.accelerator:
            moved = [calls[origin.site_id] for origin in operand.origins if origin.kind == "moved"]
            if operand.module is not None and mismatch.point.state is not None:
                point = mismatch.point.state.heap_object(operand.module).last_moved_at
                moved = [point.node] if point is not None and isinstance(point.node, ast.Call) else []
            moved = moved or _alone_there(observations, other)
            for call in moved if not observations.asks_available else _beside(observations, moved):
                here, there = observations.device_assignments.get(call, {}), other.device_assignments.get(call, {})
                if ACCELERATOR in here and ACCELERATOR in there and not here[ACCELERATOR].latent:
                    sites = here[ACCELERATOR].point, there[ACCELERATOR].point
                    certain = observations.fixed_index
                    yield Contradiction(call, *sites, ACCELERATOR, certain, _moved_by(other, mismatch), mismatch)


def _alone_there(observations: Observations, other: Observations) -> list[ast.Call]:
    """The one call that names the foreign index, where nothing else goes to an accelerator on the second machine.

    What comes out of a module's weights tells of no move, and can be on an accelerator for no other reason.
    """
    there = [call for call, devices in other.device_assignments.items() if ACCELERATOR in devices]
    return there if len(there) == 1 and _is_foreign(observations, there[0]) else []


def _beside(observations: Observations, moved: list[ast.Call]) -> Iterator[ast.Call]:
    """Those of some moves that name the foreign index, each with the others of its function: they go together."""
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
    words = device_words(call)
    if words is None or ACCELERATOR not in observations.device_assignments.get(call, {}):
        return False
    return literal(words) == observations.foreign_index


def _moved_by(other: Observations, mismatch: DeviceMismatch) -> ProgramPoint | None:
    """What sent the other side where it is."""
    for operand in mismatch.cpu:
        if operand.module is not None and mismatch.point.state is not None:
            return mismatch.point.state.heap_object(operand.module).last_moved_at
    return None


def _left_on_cpu(observations: Observations) -> Iterator[Contradiction]:
    """``.to("cpu")`` and ``.cpu()`` of what meets the accelerator afterwards."""
    calls = list(observations.device_assignments)
    for mismatch in observations.mismatches:
        for operand in mismatch.cpu:
            call: ast.AST | None = None
            if operand.module is not None and mismatch.point.state is not None:
                moved = mismatch.point.state.heap_object(operand.module).last_moved_at
                if moved is None or _was_there(moved, operand.module):
                    continue
                if stays(observations, mismatch.point, operand.module):
                    continue  # it is on the CPU on purpose: DEV602 speaks
                call = moved.node
            elif len(operand.origins) == 1 and operand.origins[0].kind == "moved":
                call = calls[operand.origins[0].site_id]
            elif len(operand.origins) == 1 and operand.origins[0].kind == "made":
                call = observations.sources[operand.origins[0].site_id].point.node
            placing = _on_cpu(observations, call)
            kept = any(origin.attribute_id for origin in operand.origins)
            if placing is not None and not kept and operand.is_certain and not _follows(placing):
                parked = placing.came == ACCELERATOR
                point, certain = placing.point, not mismatch.latent
                yield Contradiction(placing.call, point, point, CPU, certain, None, mismatch, parked)


def _follows(placing: DeviceAssignment) -> bool:
    """Whether a value goes where another one is, or was (``x.device``): what that one does is the cause."""
    words = device_words(placing.call)
    if puts_back(placing.point):
        return True
    if not isinstance(words, ast.Attribute) or words.attr != "device":
        return False
    base, memory = value_of(placing.point, placing.point.call_frame, words.value), placing.point.state
    declared = isinstance(base, Pointer) and memory is not None and "device" in memory.heap_object(base).fields
    return not declared


def _was_there(moved: ProgramPoint, module: Pointer) -> bool:
    """Whether a module came from the accelerator: bringing it back is another rule's matter."""
    assert moved.state is not None
    return not moved.state.has(module.id) or ACCELERATOR in set(weight_devices(moved, module, set()))


def _on_cpu(observations: Observations, call: ast.AST | None) -> DeviceAssignment | None:
    if not isinstance(call, ast.Call):
        return None
    by_place = observations.device_assignments.get(call, {})
    return by_place.get(CPU) if ACCELERATOR not in by_place else None
