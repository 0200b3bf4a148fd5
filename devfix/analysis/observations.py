"""Observations: the results of the abstract interpretation of a program, which rules and fixes read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import ClassValue, Device, HeapObject, Origin, Pointer, Tensor, Value
    from devfix.analysis.move_observations import (
        BooleanDeviceArgument,
        DeviceAssignment,
        DiscardedMove,
        LeafMove,
        ParallelWrap,
        Transfer,
        UncalledMove,
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
    """One operand of a device mismatch: a tensor's origins, or a module whose weights take part."""

    text: str
    origins: tuple[Origin, ...] = ()
    module: Pointer | None = None
    is_certain: bool = True


@dataclass(frozen=True, eq=False)
class DeviceMismatch:
    """Operands of one operation on different devices.

    Attributes:
        point: program point of the operation.
        operation: name of the operation: ``cross_entropy``, ``model(...)``.
        cpu: the operands on the CPU.
        accelerator: the operands on the accelerator.
        opaque: the operation is a call of a module whose code is not available.
        latent: the program does not call this code.
        takes_numbers: the operand on the CPU may also be a Python number.

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
        """Return the expressions of the operands on the accelerator, without unnamed ones."""
        return [operand.text for operand in self.accelerator if operand.text not in ("", "…")]


@dataclass(frozen=True, eq=False)
class DataSource:
    """The source of values with one ``site_id``: a loop over a loader, a call of ``next``, a factory.

    Attributes:
        kind: ``batch``, ``whole`` (an object that moves as a whole), ``encoding`` (of a tokenizer) or ``made`` (a
            created tensor).
        point: program point of the loop or call.
        loader: the iterated loader, if known.
        pinned: whether the loader pins memory; ``None`` if unknown.
        loader_site: program point of the loader's construction.

    """

    kind: str
    point: ProgramPoint
    loader: Pointer | None = None
    pinned: bool | None = None
    loader_site: ProgramPoint | None = None


@dataclass(frozen=True, eq=False)
class Binding:
    """A binding of a name or attribute to an item of a batch.

    Attributes:
        origin: the origin of the item.
        name: the bound name.
        kind: ``target`` of a loop, ``unpack`` of an assignment, ``assign`` from an expression, ``param`` or
            ``attribute``.
        point: program point of the binding.
        value: the assigned expression.

    """

    origin: Origin
    name: str
    kind: str
    point: ProgramPoint
    value: ast.expr | None = None


@dataclass(eq=False)
class AttributeStore:
    """A statement that stores CPU tensors, or a container of modules or tensors, in an attribute.

    Attributes:
        number: identifier, the ``attribute_id`` of origins.
        name: name of the attribute.
        point: program point of the statement.
        cls: class of the object.
        value: the assigned expression.
        stored_value: the first stored value.
        owners: the objects, with the time of the latest store; empty for a class attribute.

    """

    number: int
    name: str
    point: ProgramPoint
    cls: ClassValue | None
    value: ast.expr | None
    stored_value: Value
    owners: dict[Pointer, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LoadUse:
    """One use of the result of ``torch.load``.

    Attributes:
        kind: ``module``, ``optimizer``, ``state``, ``object``, ``moved``, ``array``, ``needs-cpu`` or ``tensor`` (an
            operand).
        point: program point of the use.
        on_accelerator: the other operand was on the accelerator.

    """

    kind: str
    point: ProgramPoint
    on_accelerator: bool


@dataclass(eq=False)
class Loading:
    """A call of ``torch.load`` and the uses of its result.

    Attributes:
        point: program point of the call.
        call: the call.
        is_mapped: the call has a ``map_location``.
        round_trip: the program has saved the file itself, so its tensors return to the devices they were saved from.
        latent: the program does not call this code.
        uses: the uses of the result.

    """

    point: ProgramPoint
    call: ast.Call
    is_mapped: bool
    round_trip: bool = False
    latent: bool = False
    uses: list[LoadUse] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class OptimizerHazard:
    """An optimizer that is built, or gets its state, before its parameters are moved or replaced.

    Attributes:
        kind: ``eager-state``, ``fused``, ``replaced``, ``state-loaded`` or ``harmless`` (the parameters keep their
            identity, and the state is created in the first step).
        optimizer: full name of the optimizer's class.
        built: program point of the construction.
        late: program point of the later move or replacement.
        step: program point of the step that fails or is ineffective.
        loaded: program point of ``load_state_dict``.

    """

    kind: str
    optimizer: str
    built: ProgramPoint
    late: ProgramPoint
    step: ProgramPoint
    loaded: ProgramPoint | None = None


@dataclass(frozen=True, eq=False)
class ParameterCopy:
    """A copy of a parameter of ``module`` on the CPU: ``p.clone()``, ``torch.zeros_like(p)``."""

    module: Pointer
    point: ProgramPoint


@dataclass(frozen=True, eq=False)
class ShapeDependency:
    """A tensor that is created with the shape of a parameter of ``module``: ``torch.zeros(p.shape)``.

    ``text`` is the parameter's expression; ``early`` says that the parameter is on the CPU at that point.
    """

    text: str
    module: Pointer
    early: bool


@dataclass(frozen=True, eq=False)
class ModuleReference:
    """A reference to ``module`` in an attribute of an object that is not a module: ``self.model = model``."""

    module: Pointer
    point: ProgramPoint


@dataclass(frozen=True, eq=False)
class HostAccess:
    """An operation that reads CPU memory gets a value on the accelerator.

    Attributes:
        kind: ``numpy`` (``x.numpy()``), ``array`` (an argument is converted to an array), ``lengths`` (of a packed
            sequence), ``drawn`` (weights of a sampler with a CPU generator), ``pinned`` (a loader with
            ``pin_memory=True``) or ``workers`` (a loader with worker processes).
        point: program point of the operation.
        operation: name of the operation.
        expression: expression of the value.
        tensors: the accelerator tensors: the value itself, or its contents.
        container: the value is a container.
        latent: the program does not call this code.
        loader: the loader, for ``pinned`` and ``workers``.
        sample: one sample of the loader; the heap object if it is a dictionary.

    """

    kind: str
    point: ProgramPoint
    operation: str
    expression: ast.expr
    tensors: tuple[Tensor, ...]
    container: bool = False
    latent: bool = False
    loader: HeapObject | None = None
    sample: Value | HeapObject | None = None


@dataclass(frozen=True, eq=False)
class RandomDraw:
    """Random numbers are drawn from a generator on ``device`` for a tensor on ``wanted``.

    Attributes:
        kind: ``factory`` (``torch.randn``), ``method`` (``x.uniform_()``), ``split`` (``random_split``), ``loader`` or
            ``unknown`` (external code got the generator).
        point: program point of the draw.
        given: program point of the call with the generator as an argument.
        allocated_at: program point of the generator's construction; ``None`` for PyTorch's default generator.
        device: device of the generator.
        wanted: device of the tensor.
        latent: the program does not call this code.

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
    """A tensor on the accelerator is appended to a list; ``expression`` is the tensor's expression."""

    point: ProgramPoint
    expression: ast.expr
    tensor: Tensor


@dataclass(frozen=True, eq=False)
class Step:
    """A call of an optimizer's ``step``; ``modules`` are the ids of the modules whose parameters it updates."""

    point: ProgramPoint
    modules: tuple[int, ...]


@dataclass(eq=False)
class Observations:
    """The observations of one interpretation, in program order.

    Attributes:
        path: the entry script.
        sources: data sources; the index is the ``site_id`` of origins.
        source_keys: index in ``sources`` by kind and position.
        mismatches: operations with operands on different devices.
        bindings: names of batch items.
        transfers: moves of batch items and created tensors.
        attribute_stores: stores of CPU tensors and containers in attributes, by position and name.
        loadings: calls of ``torch.load``, by position.
        hazards: optimizers that are built too early.
        host_accesses: operations that read accelerator tensors on the host, by the position of the expression.
        list_appends: per list, the appended accelerator tensors by position.
        list_item_uses: per list, the uses of its items as tensors: method names, and ``operand``.
        random_results: site ids of created CPU tensors that a function returns if its random branch does not return an
            accelerator tensor.
        saved_entries: whether the entry of a saved dictionary is always a tensor with dimensions, by key.
        discarded_moves: moves without effect, by number.
        uncalled_moves: move methods without call parentheses, by position.
        boolean_device_arguments: calls such as ``x.cuda(True)``, by position.
        grad_leaves: factories with ``requires_grad=True``, by site id.
        leaf_moves: copies of leaf tensors to the accelerator, by position.
        moves: moves of modules to the accelerator.
        moves_to_cpu: moves of modules that always go to the CPU.
        module_references: references to modules in attributes of other objects.
        parameter_copies: copies of parameters, by position and module.
        shape_dependencies: the parameter whose shape a created tensor has, by site id.
        creation_points: per created tensor, one program point for each call path.
        dataset_values: site ids of created tensors that a dataset is built from.
        returns_tensor: whether a call of a project function always returns one tensor.
        random_draws: draws from generators.
        parallel_wraps: modules wrapped with literal device indices.
        device_assignments: per call, the devices on which it places values.
        steps: optimizer steps, once per call.
        checks_availability: the program checks whether an accelerator is available.
        has_configured_device: an option, an argument or a variable selects the device.
        has_fixed_index: the program hard-codes an index other than 0: ``cuda:1``.
        sets_current_device: the program selects the accelerator that ``cuda`` names.
        foreign_index: the only hard-coded device in a program that otherwise chooses its device.
        is_distributed: the program starts a process group.
        set_current: the first call of ``torch.cuda.set_device``.
        no_accelerator: the observations without an accelerator (:mod:`devfix.analysis.scenarios`), if they can differ.
        multi_accelerator: the observations with two accelerators, if they can differ; the ``cpu`` operands of their
            mismatches are on the accelerator that is not the current device.
        is_complete: the interpretation reached the end of the program within its step budget.
        preferred_device: the device that fixes prefer, if configured.
        folders: folders in which imports were resolved.

    """

    path: str
    sources: list[DataSource] = field(default_factory=list)
    source_keys: dict[tuple[object, ...], int] = field(default_factory=dict)
    mismatches: list[DeviceMismatch] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    attribute_stores: dict[tuple[object, ...], AttributeStore] = field(default_factory=dict)
    loadings: dict[tuple[str, int, int], Loading] = field(default_factory=dict)
    hazards: list[OptimizerHazard] = field(default_factory=list)
    host_accesses: dict[tuple[str, int, int], HostAccess] = field(default_factory=dict)
    list_appends: dict[int, dict[tuple[str, int, int], ListAppend]] = field(default_factory=dict)
    list_item_uses: dict[int, set[str]] = field(default_factory=dict)
    random_results: set[int] = field(default_factory=set)
    saved_entries: dict[str, bool] = field(default_factory=dict)
    discarded_moves: dict[int, DiscardedMove] = field(default_factory=dict)
    uncalled_moves: dict[tuple[str, int, int], UncalledMove] = field(default_factory=dict)
    boolean_device_arguments: dict[tuple[str, int, int], BooleanDeviceArgument] = field(default_factory=dict)
    grad_leaves: dict[int, ProgramPoint] = field(default_factory=dict)
    leaf_moves: dict[tuple[str, int, int], LeafMove] = field(default_factory=dict)
    moves: list[ProgramPoint] = field(default_factory=list)
    moves_to_cpu: list[ProgramPoint] = field(default_factory=list)
    module_references: list[ModuleReference] = field(default_factory=list)
    parameter_copies: dict[tuple[object, ...], ParameterCopy] = field(default_factory=dict)
    shape_dependencies: dict[int, ShapeDependency] = field(default_factory=dict)
    creation_points: dict[int, list[ProgramPoint]] = field(default_factory=dict)
    dataset_values: set[int] = field(default_factory=set)
    returns_tensor: dict[ast.Call, bool] = field(default_factory=dict)
    random_draws: dict[tuple[object, ...], RandomDraw] = field(default_factory=dict)
    parallel_wraps: dict[ast.Call, ParallelWrap] = field(default_factory=dict)
    device_assignments: dict[ast.Call, dict[Device, DeviceAssignment]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    checks_availability: bool = False
    has_configured_device: bool = False
    has_fixed_index: bool = False
    sets_current_device: bool = False
    foreign_index: str | None = None
    is_distributed: bool = False
    set_current: ProgramPoint | None = None
    no_accelerator: Observations | None = None
    multi_accelerator: Observations | None = None
    is_complete: bool = True
    preferred_device: str | None = None
    folders: set[str] = field(default_factory=set)

    def number(self, call: ast.Call) -> int:
        """Return the index of a call in :attr:`device_assignments`: the ``site_id`` of ``moved`` origins."""
        return list(self.device_assignments).index(call)
