"""What findings rest on: the evidence in what was observed, for which their levels were measured."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import Enum

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import HeapObject, Module, module_at
from devfix.analysis.domain.state import State
from devfix.analysis.observations import AttributeStore, DeviceMismatch, HostAccess, Observations, Operand
from devfix.analysis.working_devices import IgnoredDevice
from devfix.models.index import lookup
from devfix.syntax.bindings import parameters, source_names
from devfix.syntax.tree import text_of

__all__ = ["LARGE", "ORDER", "Basis", "bases"]

LARGE = 9  # files of a program: of the judged findings whose program was counted, none has fewer


class Basis(Enum):
    """What a finding rests on, strongest first."""

    EVERY_PATH = "every path, arguments whose kind is declared or used"
    MADE_HERE = "a layer that the function which uses it makes: no caller could have moved it"
    TOLD = "a parameter that tells a function its device"
    SOME_PATH = "one of several paths"
    BOTH_MAY_BE_ON_CPU = "one of several paths; on another one, nothing is on the accelerator"
    UNKNOWN_METHOD = "a method or part of an object of an unknown class: it may move what it gets"
    UNKNOWN_CLASS = "weights of an object of an unknown class: it may have none, or have placed them itself"
    ARGUMENT = "a function of NumPy or a plot converts an argument: callers may pass what is no tensor"
    MAYBE_NO_TENSOR = "an item of a batch that may be no tensor, or moved by the function that gets it"
    MAYBE_NUMBER = "what is or may be one number, given to unknown code beside a tensor on the accelerator"
    NO_MODULE = "attributes of an object that is no module: who made it may have placed them"
    PASSED_ON = "an item of a batch of which no part is moved, used by other functions of a large program"
    FAR = "three calls or three files of a large program, or more, lead to each use: one may move what is said to stay"
    UNSURE = "an operation that need not get the value: its rule says so itself"
    GUESS = "arguments whose kind is guessed from a name, or steps of an object that others may place"


ORDER = list(Basis).index

_Place = tuple[str, int]


def bases(observations: Observations) -> dict[_Place | tuple[_Place, _Place], Basis]:
    """Return the basis of what fails in each line, the strongest of several; also for each cause that is known."""
    found: dict[_Place | tuple[_Place, _Place], Basis] = {}
    everything: list[tuple[Observations, DeviceMismatch | HostAccess]] = [
        *((run, each) for run in (observations, observations.multi_accelerator) if run for each in run.mismatches),
        *((observations, each) for each in observations.host_accesses.values()),
    ]
    stores = {store.number: store for store in observations.attribute_stores.values() if observations.is_library}
    arguments: list[HostAccess] = []
    reading = set[ast.AST]()  # functions that read tensors on the host
    for run, failing in everything:
        place = _place(failing.point)
        basis = Basis.NO_MODULE if _is_kept_by_no_module(stores, failing) else _basis(run, failing)
        keys: list[_Place | tuple[_Place, _Place]] = [place, *((cause, place) for cause in _causes(run, failing))]
        for key in keys:
            found[key] = min(found.get(key, Basis.GUESS), basis, key=ORDER)
        if isinstance(failing, HostAccess) and basis is Basis.EVERY_PATH:
            reading.add(failing.point.call_frame.activation.node)
        elif isinstance(failing, HostAccess) and all(tensor.is_certain for tensor in failing.tensors):
            arguments.append(failing)
    for argument in arguments:
        if argument.point.call_frame.activation.node in reading and not observations.is_library:
            found[_place(argument.point)] = Basis.EVERY_PATH  # it would fail there next
    for ignored in observations.of(IgnoredDevice):
        found[ignored.tree.path, ignored.tree.span(ignored.placed).line] = Basis.TOLD
    return found


def _causes(observations: Observations, failing: DeviceMismatch | HostAccess) -> set[_Place]:
    """Return where what is on the CPU is created."""
    operands = failing.cpu if isinstance(failing, DeviceMismatch) else ()
    numbers = {origin.source_id for operand in operands for origin in operand.origins}
    return {_place(observations.sources[number].point) for number in numbers if number is not None}


def _place(point: ProgramPoint) -> _Place:
    return point.tree.path, point.span.line


def _is_kept_by_no_module(stores: Mapping[int, AttributeStore], failing: DeviceMismatch | HostAccess) -> bool:
    """Return whether what is on the CPU is an attribute of an object of the project that is no module.

    ``stores`` are those of a library, by number.
    """
    state = failing.point.state
    if not stores or not isinstance(failing, DeviceMismatch) or state is None:
        return False
    ids = {origin.attribute_id for operand in failing.cpu for origin in operand.origins} - {0}
    owners = [owner for each in ids for owner in stores[each].owners if state.has(owner.id)]
    return bool(owners) and not any(module_at(state, owner) is not None for owner in owners)


def _basis(observations: Observations, failing: DeviceMismatch | HostAccess) -> Basis:
    if isinstance(failing, HostAccess):
        if failing.kind == "array" and (observations.is_library or _converts_argument(failing)):
            return Basis.ARGUMENT  # in a library, nothing else is known
        return Basis.GUESS if failing.latent else Basis.EVERY_PATH
    if failing.latent:
        return Basis.GUESS
    if not failing.on_every_path:
        return Basis.SOME_PATH if failing.surely_on_accelerator else Basis.BOTH_MAY_BE_ON_CPU
    if _is_unknown_method(failing):
        return Basis.UNKNOWN_METHOD
    if _may_be_no_tensor(observations, failing):
        return Basis.MAYBE_NO_TENSOR
    if _is_passed_on(observations, failing):
        return Basis.PASSED_ON
    if _may_be_number(observations, failing):
        return Basis.MAYBE_NUMBER
    if observations.is_library and _is_made_by_its_user(failing):
        return Basis.MADE_HERE
    return Basis.UNKNOWN_CLASS if _is_of_unknown_class(failing) else Basis.EVERY_PATH


def _converts_argument(failing: HostAccess) -> bool:
    """Return whether a function converts to an array what its arguments hold, which nothing shows to be tensors."""
    function = failing.point.call_frame.activation.node
    call = failing.point.node
    library = text_of(call.func).partition(".")[0] if isinstance(call, ast.Call) else ""  # it returns arrays
    names = source_names(function, failing.expression) - {library}
    given = {*parameters(function)} - {"self", "cls"}
    if not names or not names <= given:
        return False
    declared = [each.annotation for each in ast.walk(function) if isinstance(each, ast.arg) and each.arg in names]
    return not any(annotation is not None and "Tensor" in ast.unparse(annotation) for annotation in declared)


def _may_be_no_tensor(observations: Observations, failing: DeviceMismatch) -> bool:
    """Return whether all that is on the CPU are items of batches of unknown datasets, and nothing requires tensors.

    What the loop itself passes to a function of PyTorch is a tensor; what it passes on, another function may move.
    """
    if any(operand.is_certain for operand in failing.cpu):
        return False
    if failing.opaque or failing.takes_numbers:
        return True
    return not _is_used_by_its_loop(observations, failing)


def _may_be_number(observations: Observations, failing: DeviceMismatch) -> bool:
    """Return whether unknown code gets one number beside what was moved: it may only read it.

    It may have no dimensions, ``for t in times:``, or one element, ``torch.tensor([16])``.
    """
    is_beside = any(operand.module is None for operand in failing.accelerator)
    return failing.opaque and is_beside and all(_is_one_number(observations, each) for each in failing.cpu)


def _is_one_number(observations: Observations, operand: Operand) -> bool:
    made = [observations.sources[each.site_id].point.node for each in operand.origins if each.kind == "made"]
    is_made_here = bool(made) and len(made) == len(operand.origins)
    return operand.maybe_zero_dim or (is_made_here and all(map(_makes_one_number, made)))


def _makes_one_number(node: ast.AST) -> bool:
    match node:
        case ast.Call(args=[ast.List(elts=[ast.Constant()]), *_]):
            return True
    return False


def _is_passed_on(observations: Observations, failing: DeviceMismatch) -> bool:
    """Return whether all that is on the CPU are items of batches of which no part is moved, used by other functions."""
    if len(observations.trees) < LARGE:
        return False
    origins = [origin for operand in failing.cpu for origin in operand.origins]
    if {origin.kind for origin in origins} != {"batch"} or _is_used_by_its_loop(observations, failing):
        return False
    batches = {origin.site_id for origin in origins}
    return not any(move.device == "accelerator" and move.origin.site_id in batches for move in observations.transfers)


def _is_used_by_its_loop(observations: Observations, failing: DeviceMismatch) -> bool:
    batches = [origin.site_id for operand in failing.cpu for origin in operand.origins if origin.kind == "batch"]
    loops = [observations.sources[site_id].point.call_frame.activation for site_id in batches]
    return failing.point.call_frame.activation in loops


def _is_unknown_method(failing: DeviceMismatch) -> bool:
    """Return whether a method is called of an object of an unknown class: ``build().to(device).edit(x)``."""
    state = failing.point.state
    if not failing.opaque or state is None:
        return False
    weights = [operand.module for operand in failing.accelerator if operand.module is not None]
    modules = [module_at(state, each) for each in weights if state.has(each.id)]
    return bool(modules) and all(module is not None and _is_method(module) for module in modules)


def _is_method(part: Module) -> bool:
    """Return whether a name stands for a method, or a part, of an object of an unknown class."""
    if part.name.startswith("."):
        return True
    names = part.name.split(".")
    place = next((index for index, name in enumerate(names) if name[:1].isupper()), None)
    if place is None or not part.parents or any(name.startswith("from_") for name in names[place + 1 :]):
        return False
    return lookup(".".join(names[: place + 1])) is None


def _is_made_by_its_user(failing: DeviceMismatch) -> bool:
    """Return whether the weights on the CPU are those of layers that a function makes and uses: ``nn.Linear(3, 4)(x)``.

    A constructor is no such function: who made the object may move it before it is used.
    """
    state = failing.point.state
    modules = [operand.module for operand in failing.cpu]
    if state is None or not modules:
        return False
    made = [state.at(each.id).allocated_at for each in modules if each is not None and state.has(each.id)]
    users = {call_frame.activation for call_frame in failing.point.call_stack}
    return len(made) == len(modules) and all(
        point is not None
        and point.call_frame.activation in users
        and getattr(point.call_frame.activation.node, "name", "__init__") != "__init__"
        for point in made
    )


def _is_of_unknown_class(failing: DeviceMismatch) -> bool:
    """Return whether weights are on the CPU, and only those of objects that classes outside the program construct.

    What ``from_pretrained`` and its like return has weights.
    """
    state = failing.point.state
    if state is None:
        return False
    modules = [operand.module for operand in failing.cpu if operand.module is not None]
    parts = [state.at(module.id) for module in modules if state.has(module.id)]
    return bool(parts) and all(_is_unknown(state, part) for part in parts)


def _is_unknown(state: State, part: HeapObject) -> bool:
    """Return whether an object's class is outside the program, and no stub describes it; or that of a part's owner."""
    if part.cls is not None:
        return False
    if part.name.split(".")[-1][:1].isupper():
        return lookup(part.name) is None
    known = (owner.id for owner in part.parents) if isinstance(part, Module) else ()
    owners = [state.at(key) for key in known if state.has(key)]
    return any(part.name.startswith(f"{owner.name}.") and _is_unknown(state, owner) for owner in owners)
