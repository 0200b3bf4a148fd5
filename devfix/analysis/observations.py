"""What one abstract run of a program establishes: the ground on which rules stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import ClassValue, Device, HeapObject, Origin, Pointer, Tensor, Value
    from devfix.analysis.move_observations import (
        DeviceAssignment,
        Dropped,
        Flagged,
        LeafMove,
        Transfer,
        Uncalled,
        Wrapped,
    )

__all__ = [
    "AttributeStore",
    "Binding",
    "DataSource",
    "DeviceMismatch",
    "HostAccess",
    "ListAppend",
    "LoadUse",
    "Loading",
    "ModuleReference",
    "Observations",
    "Operand",
    "OptimizerHazard",
    "ParameterCopy",
    "RandomDraw",
    "ShapeDependency",
    "Step",
]


@dataclass(frozen=True, eq=False)
class Operand:
    """One side of a meeting: a tensor's origins, or the module whose weights take part."""

    text: str
    origins: tuple[Origin, ...] = ()
    module: Pointer | None = None
    is_certain: bool = True


@dataclass(frozen=True, eq=False)
class DeviceMismatch:
    """Two known places meet in one operation: ``cpu`` lies on the CPU, ``accelerator`` does not.

    ``operation`` says what the operation is (``cross_entropy``, ``model(...)``); ``opaque`` that it is a module whose
    code devfix cannot read, ``takes_numbers`` that the operand on the CPU may as well be a number.
    """

    point: ProgramPoint
    operation: str
    cpu: tuple[Operand, ...]
    accelerator: tuple[Operand, ...]
    opaque: bool = False
    latent: bool = False
    takes_numbers: bool = False

    @property
    def partners(self) -> list[str]:
        """What the program calls the values on the accelerator, where it has words for them."""
        return [operand.text for operand in self.accelerator if operand.text not in ("", "…")]


@dataclass(frozen=True, eq=False)
class DataSource:
    """Where values of one birth key come from: a loop over a loader (or ``next``), or a call of ``torch.load``."""

    kind: str
    point: ProgramPoint
    loader: Pointer | None = None
    pinned: bool | None = None
    loader_site: ProgramPoint | None = None


@dataclass(frozen=True, eq=False)
class Binding:
    """A name (or attribute) that was bound to an item of a batch.

    ``kind``: ``target`` of a loop, ``unpack`` of an assignment, ``assign`` from an expression of the batch, ``param``.
    """

    origin: Origin
    name: str
    kind: str
    point: ProgramPoint
    value: ast.expr | None = None


@dataclass(eq=False)
class AttributeStore:
    """An attribute that holds CPU tensors, or a container of modules or tensors: one for each place that writes it.

    ``owners`` are the objects that were given it there, with the moment of the latest write (none for an attribute of
    the class ``cls`` itself); ``held`` is what the first of them was given, ``value`` the expression.
    """

    number: int
    name: str
    point: ProgramPoint
    cls: ClassValue | None
    value: ast.expr | None
    held: Value
    owners: dict[Pointer, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LoadUse:
    """One use of what ``torch.load`` gave: ``module``, ``optimizer``, ``tensor`` or ``object``.

    ``on_accelerator``: the other side lived on the accelerator at that moment.
    """

    kind: str
    point: ProgramPoint
    on_accelerator: bool


@dataclass(eq=False)
class Loading:
    """A call of ``torch.load`` and what became of its result.

    ``round_trip``: this very run has saved the file, so that its tensors come back to where they were.
    """

    point: ProgramPoint
    call: ast.Call
    mapped: bool
    round_trip: bool = False
    latent: bool = False
    uses: list[LoadUse] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class OptimizerHazard:
    """An optimizer that was built, or got its state, before its parameters reached their final place or identity.

    ``kind``: ``eager-state``, ``fused``, ``replaced``, ``state-loaded`` or ``harmless`` (identity is kept, state is
    made at the first step).  ``late`` is the move or replacement that came after.
    """

    kind: str
    optimizer: str
    built: ProgramPoint
    late: ProgramPoint
    step: ProgramPoint
    loaded: ProgramPoint | None = None


@dataclass(frozen=True, eq=False)
class ParameterCopy:
    """A parameter of ``module`` is copied while it lies on the CPU: ``p.clone()``, ``torch.zeros_like(p)``."""

    module: Pointer
    point: ProgramPoint


@dataclass(frozen=True, eq=False)
class ShapeDependency:
    """A tensor that is made with the shape of a parameter of ``module``: ``torch.zeros(p.shape)``.

    ``text`` is what the program calls the parameter there; ``early``: it lies on the CPU at that moment.
    """

    text: str
    module: Pointer
    early: bool


@dataclass(frozen=True, eq=False)
class ModuleReference:
    """An object that is no module keeps ``module`` in an attribute: ``self.model = model``."""

    module: Pointer
    point: ProgramPoint


@dataclass(frozen=True, eq=False)
class HostAccess:
    """What reads the CPU's memory is given a value on the accelerator.

    ``kind``: ``numpy`` (``x.numpy()``), ``array`` (an argument that becomes an array), ``lengths`` (of a packed
    sequence), ``drawn`` (weights from which a generator of the CPU draws), ``pinned`` (memory of a loader), ``workers``
    (processes of a loader).
    ``expression`` is the value in the source; ``held`` are the tensors on the accelerator: the value itself,
    or (``container``) what it holds.  ``sample`` is what ``loader`` would bring; of a dictionary, its record.
    """

    kind: str
    point: ProgramPoint
    operation: str
    expression: ast.expr
    held: tuple[Tensor, ...]
    container: bool = False
    latent: bool = False
    loader: HeapObject | None = None
    sample: Value | HeapObject | None = None


@dataclass(frozen=True, eq=False)
class RandomDraw:
    """Random numbers are drawn at ``point`` for a tensor at ``wanted`` from a generator at ``device``.

    ``kind``: ``factory`` (``torch.randn``), ``method`` (``x.uniform_()``), ``split`` (``random_split``), ``loader`` or
    ``unknown``.  ``given`` is the call that is given the generator; ``allocated_at`` made it, ``None`` for PyTorch's own.
    """

    kind: str
    point: ProgramPoint
    given: ProgramPoint
    allocated_at: ProgramPoint | None
    device: Device
    wanted: Device
    latent: bool = False


@dataclass(frozen=True, eq=False)
class ListAppend:
    """A tensor on the accelerator is put into a list: ``expression`` is the tensor."""

    point: ProgramPoint
    expression: ast.expr
    tensor: Tensor


@dataclass(frozen=True, eq=False)
class Step:
    """An optimizer steps: ``modules`` are the identities of those whose parameters it was built with."""

    point: ProgramPoint
    modules: tuple[int, ...]


@dataclass(eq=False)
class Observations:
    """Everything that rules may look at, in the order in which it was seen.

    ``visits`` holds the moments at which each value of kind ``made`` was made, one for each way there;
    ``gives_tensor`` says of calls of project functions whether they gave one tensor each time; ``in_datasets`` holds
    the keys of made values that a data set was built from.
    ``kept`` has the tensors of each list (by identity) by their place in the source, ``kept_uses`` what is done
    with them as tensors: names of methods, and ``operand``.  ``drawn`` are the keys of made values that a function
    returns where lots decide that other calls return from an accelerator.  ``flagged`` are calls ``x.cuda(True)``,
    ``leaves`` the factories with ``requires_grad=True`` by the key of their source.
    ``entries`` says of the keys of dictionaries that ``torch.save`` is given whether a tensor with dimensions is there.
    ``copies`` are copies of parameters, each place once; ``sized`` says of made values what they took their shape from.
    ``moves`` bring modules to the accelerator, ``moves_to_cpu`` certainly bring one to the CPU.
    ``steps`` are the places at which optimizers step, each once.
    ``device_assignments`` has every call that names a place, by the places that it named.  ``asks_available``: the program asks
    whether there is an accelerator; ``named_devices``: an option or an index names its device; ``fixed_index``: it
    says ``cuda:1`` or another index that is not 0; ``current_device``: it says which accelerator ``cuda`` means;
    ``foreign_index``: the only index that it hard-codes, beside a device that it chooses.
    ``distributed``: it starts a process group; ``set_current``: the first ``torch.cuda.set_device``.
    ``no_accelerator`` are the facts of the second machine (:mod:`devfix.analysis.scenarios`), ``multi_accelerator`` those of the machine with
    two accelerators, where they can tell more.  In ``multi_accelerator``, the ``cpu`` of a meeting is the accelerator that is not
    the current one.
    """

    path: str
    sources: list[DataSource] = field(default_factory=list)
    source_keys: dict[tuple[object, ...], int] = field(default_factory=dict)
    mismatches: list[DeviceMismatch] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    stored: dict[tuple[object, ...], AttributeStore] = field(default_factory=dict)
    loadings: dict[tuple[str, int, int], Loading] = field(default_factory=dict)
    hazards: list[OptimizerHazard] = field(default_factory=list)
    needs_cpu: dict[tuple[str, int, int], HostAccess] = field(default_factory=dict)
    kept: dict[int, dict[tuple[str, int, int], ListAppend]] = field(default_factory=dict)
    kept_uses: dict[int, set[str]] = field(default_factory=dict)
    drawn: set[int] = field(default_factory=set)
    entries: dict[str, bool] = field(default_factory=dict)
    dropped: dict[int, Dropped] = field(default_factory=dict)
    uncalled: dict[tuple[str, int, int], Uncalled] = field(default_factory=dict)
    flagged: dict[tuple[str, int, int], Flagged] = field(default_factory=dict)
    leaves: dict[int, ProgramPoint] = field(default_factory=dict)
    leaf_moves: dict[tuple[str, int, int], LeafMove] = field(default_factory=dict)
    moves: list[ProgramPoint] = field(default_factory=list)
    moves_to_cpu: list[ProgramPoint] = field(default_factory=list)
    module_references: list[ModuleReference] = field(default_factory=list)
    copies: dict[tuple[object, ...], ParameterCopy] = field(default_factory=dict)
    sized: dict[int, ShapeDependency] = field(default_factory=dict)
    visits: dict[int, list[ProgramPoint]] = field(default_factory=dict)
    in_datasets: set[int] = field(default_factory=set)
    gives_tensor: dict[ast.Call, bool] = field(default_factory=dict)
    random_draws: dict[tuple[object, ...], RandomDraw] = field(default_factory=dict)
    wrapped: dict[ast.Call, Wrapped] = field(default_factory=dict)
    device_assignments: dict[ast.Call, dict[Device, DeviceAssignment]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    asks_available: bool = False
    named_devices: bool = False
    fixed_index: bool = False
    current_device: bool = False
    foreign_index: str | None = None
    distributed: bool = False
    set_current: ProgramPoint | None = None
    no_accelerator: Observations | None = None
    multi_accelerator: Observations | None = None
    complete: bool = True
    preferred_device: str | None = None
    folders: set[str] = field(default_factory=set)

    def number(self, call: ast.Call) -> int:
        """The number of a call among :attr:`device_assignments`, for births."""
        return list(self.device_assignments).index(call)
