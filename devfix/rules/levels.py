"""Levels of findings, by measured precision.

No program shows that a finding of library code happens: it rests on what callers are assumed to pass.  ``LIBRARIES``
says for each rule, and for each kind of evidence, how many findings in public libraries were read, and how many are
true: a caller with an accelerator fails, or trains incorrectly, by a documented call.  ``UNCALLED`` says it of code
that no program calls in a repository of programs that cannot be installed: its authors are its only callers.

In programs, most findings are true where one function shows all of it; what rests on more often overlooks something:
a path that cannot be taken, a value that is no tensor, a move on a way through many files.  ``PROGRAMS`` says how many
were read.  ``docs/development/accuracy.md`` says how all of them were measured.

A finding is an error where at least 90 % of its kind are true, latent where at least 60 % are, and otherwise doubtful:
it is reported only to explain a failure that has happened.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from devfix.analysis.domain.location import ProgramPoint
from devfix.analysis.domain.objects import HeapObject, Module, module_at
from devfix.analysis.domain.state import State
from devfix.analysis.observations import AttributeStore, DeviceMismatch, HostAccess, Observations, Operand
from devfix.analysis.working_devices import IgnoredDevice
from devfix.model import Event, Finding, Severity
from devfix.models.index import lookup
from devfix.syntax.bindings import parameters, source_names
from devfix.syntax.tree import text_of

__all__ = ["LIBRARIES", "PROGRAMS", "UNCALLED", "Basis", "Row", "level_of", "levelled"]

_ERROR, _LATENT = 0.9, 0.6  # the least precision of each level
_FEWEST = 5  # findings that must have been judged before a row counts
_MANY = 3  # calls, or files that they lead through
_LARGE = 9  # files of a program: of the judged findings whose program was counted, none has fewer


class Basis(Enum):
    """What a finding rests on, strongest first."""

    EVERY_PATH = "every path, arguments whose kind is declared or used"
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


_ORDER = list(Basis).index


@dataclass(frozen=True)
class Row:
    """The judged findings of one rule with one basis, and how many of them are true."""

    code: str
    basis: Basis
    true: int
    judged: int

    @property
    def precision(self) -> float:
        """Return the share of true findings."""
        return self.true / self.judged


#: DEV100 reports what another rule does not: of the same tensors, what was measured of DEV202 holds.  Those of DEV501
#: say that a value on the CPU is used with tensors on the accelerator; others have no such use.  Those of DEV204 are
#: counted whatever they rest on.
LIBRARIES = (
    Row("DEV100", Basis.NO_MODULE, 3, 13),
    Row("DEV102", Basis.EVERY_PATH, 63, 90),
    Row("DEV102", Basis.SOME_PATH, 3, 12),
    Row("DEV202", Basis.NO_MODULE, 3, 13),
    Row("DEV204", Basis.EVERY_PATH, 1, 6),
    Row("DEV501", Basis.EVERY_PATH, 3, 19),
    Row("DEV601", Basis.ARGUMENT, 5, 29),
    Row("DEV601", Basis.EVERY_PATH, 5, 8),
)

#: Where none of these holds, one of ``LIBRARIES`` does.  Those of DEV100 and DEV101 are counted whatever they rest on.
UNCALLED = (
    Row("DEV100", Basis.EVERY_PATH, 2, 5),
    Row("DEV101", Basis.EVERY_PATH, 1, 6),
    Row("DEV102", Basis.EVERY_PATH, 11, 36),
    Row("DEV102", Basis.GUESS, 4, 9),
    Row("DEV202", Basis.EVERY_PATH, 5, 9),
    Row("DEV204", Basis.EVERY_PATH, 0, 6),
    Row("DEV601", Basis.EVERY_PATH, 0, 11),
)

#: Rules whose errors in programs are latent, or doubtful, with a weak basis; a run can confirm them.  On one of several
#: paths, DEV202 and DEV602 go with DEV101 and DEV102, whose evidence is the same: of the 42, four are true.  So does
#: DEV201 with DEV202 where the use is far away, and DEV101 with DEV102 where a method of an unknown class gets the
#: value.  Of DEV102 with a use that is far away, the latest rounds alone are counted: of the 50 before, 19 were true.
PROGRAMS = (
    Row("DEV100", Basis.FAR, 0, 46),
    Row("DEV101", Basis.FAR, 1, 6),
    Row("DEV101", Basis.MAYBE_NO_TENSOR, 0, 13),
    Row("DEV101", Basis.PASSED_ON, 1, 10),
    Row("DEV101", Basis.SOME_PATH, 3, 23),
    Row("DEV101", Basis.UNKNOWN_METHOD, 0, 2),
    Row("DEV102", Basis.FAR, 4, 5),
    Row("DEV102", Basis.MAYBE_NUMBER, 0, 4),
    Row("DEV102", Basis.SOME_PATH, 1, 14),
    Row("DEV102", Basis.UNKNOWN_METHOD, 0, 5),
    Row("DEV201", Basis.FAR, 0, 1),
    Row("DEV202", Basis.FAR, 12, 16),
    Row("DEV202", Basis.SOME_PATH, 0, 4),
    Row("DEV203", Basis.FAR, 0, 8),
    Row("DEV204", Basis.BOTH_MAY_BE_ON_CPU, 0, 6),
    Row("DEV204", Basis.FAR, 3, 39),
    Row("DEV204", Basis.UNKNOWN_CLASS, 0, 9),
    Row("DEV302", Basis.FAR, 0, 5),
    Row("DEV401", Basis.FAR, 5, 20),
    Row("DEV501", Basis.UNKNOWN_METHOD, 0, 4),
    Row("DEV501", Basis.UNSURE, 1, 8),
    Row("DEV502", Basis.FAR, 1, 3),
    Row("DEV502", Basis.SOME_PATH, 0, 14),
    Row("DEV601", Basis.ARGUMENT, 1, 17),
    Row("DEV602", Basis.SOME_PATH, 0, 1),
)

_Rows = Mapping[tuple[str, Basis], Row]


def _by_kind(rows: Sequence[Row]) -> dict[tuple[str, Basis], Row]:
    return {(row.code, row.basis): row for row in rows}


_rows = _by_kind(LIBRARIES)
_rows_of_uncalled = {**_rows, **_by_kind(UNCALLED)}
_rows_of_programs = _by_kind(PROGRAMS)


def level_of(code: str, basis: Basis, otherwise: Severity, beside_programs: bool = False) -> Severity | None:
    """Return the level of a rule's findings in libraries with a basis; ``None`` if most of them are false.

    ``otherwise`` is the level where too few were judged; such a finding is at most latent, because it rests on what
    callers are assumed to pass.  ``beside_programs``, the code is in a repository of programs, and in no package that
    can be installed.
    """
    row = _row(_rows_of_uncalled if beside_programs else _rows, code, basis)
    if row is None or row.judged < _FEWEST:
        return Severity.LATENT if otherwise is Severity.ERROR else otherwise
    if row.precision >= _ERROR:
        return Severity.ERROR
    return Severity.LATENT if row.precision >= _LATENT else None


def _row(rows: _Rows, code: str, basis: Basis) -> Row | None:
    """Return the row of a rule and a basis, or else of the stronger one that it is a part of."""
    if basis is Basis.TOLD:
        return rows.get((code, basis))
    stronger = (Basis.SOME_PATH,) if basis is Basis.BOTH_MAY_BE_ON_CPU else ()
    return next((rows[code, each] for each in (basis, *stronger, Basis.EVERY_PATH) if (code, each) in rows), None)


def levelled(
    findings: Sequence[Finding], observations: Observations, beside_programs: bool = False
) -> Iterator[tuple[Finding, bool]]:
    """Yield one rule's findings with their measured levels, and whether each is doubtful, which is latent at most.

    Advice stays what it is: code that works was not judged.  ``beside_programs``, some of the checked files start
    programs, and what these do not call is in no package that can be installed.
    """
    bases = _bases(observations) if findings else {}
    for finding in findings:
        steps = [(event.path, event.line) for event in finding.events if event.kind != "called"]
        pairs = [(cause, use) for cause in steps for use in steps]
        found = [bases[pair] for pair in pairs if pair in bases] or [bases[step] for step in steps if step in bases]
        known = [min(found, key=_ORDER)] if found else []
        level: Severity | None = finding.severity
        if level is Severity.ADVICE:
            yield finding, False
            continue
        if not observations.is_library:
            known += [Basis.FAR] if _is_far(observations, finding) else []
            is_of_use = {"created", "used"} <= {event.kind for event in finding.events}
            known += [Basis.UNSURE] if is_of_use and level is Severity.LATENT else []
            level = _level_in_program(finding.code, known, finding.severity)
        elif known:
            level = level_of(finding.code, known[0], finding.severity, beside_programs)
        yield replace(finding, severity=level or Severity.LATENT), level is None


def _is_far(observations: Observations, finding: Finding) -> bool:
    """Return whether even the nearest use is far from the cause."""
    distances = [
        max(len(path) - 1, len({event.path for event in [*causes, *path]})) for causes, path in _paths_to_uses(finding)
    ]
    return len(observations.trees) >= _LARGE and min(distances, default=0) >= _MANY


def _paths_to_uses(finding: Finding) -> Iterator[tuple[list[Event], list[Event]]]:
    """Yield, for each use, the events of the cause, and the calls that lead to the use, with the use."""
    causes = [event for event in finding.events if event.kind not in ("called", "used")]
    path: list[Event] = []
    for event in finding.events:
        if event.kind in ("called", "used"):
            path.append(event)
        if event.kind == "used":
            yield causes, path
            path = []
    if path:
        yield causes, [*path, finding.events[-1]]


def _level_in_program(code: str, rests_on: Sequence[Basis], otherwise: Severity) -> Severity | None:
    """Return the level of a rule's findings in programs with these bases; ``None`` if most of them are false."""
    rows = [row for row in (_row(_rows_of_programs, code, basis) for basis in rests_on) if row is not None]
    if any(row.judged >= _FEWEST and row.precision < _LATENT for row in rows):
        return None
    is_weak = any(row.precision < _ERROR for row in rows)
    return Severity.LATENT if is_weak and otherwise is Severity.ERROR else otherwise


_Place = tuple[str, int]


def _bases(observations: Observations) -> dict[_Place | tuple[_Place, _Place], Basis]:
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
            found[key] = min(found.get(key, Basis.GUESS), basis, key=_ORDER)
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
    if len(observations.trees) < _LARGE:
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
