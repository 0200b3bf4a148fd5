"""The observations of one interpretation of a program, which rules and fixes read."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from devfix.analysis.domain.records import dataclass
from devfix.model import PortTargets

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.values import Device, Value
    from devfix.analysis.observations.checkpoints import Loading
    from devfix.analysis.observations.mismatches import DeviceMismatch, HostAccess
    from devfix.analysis.observations.modules import (
        AttributeStore,
        ModuleReference,
        ParameterCopy,
        ShapeDependency,
    )
    from devfix.analysis.observations.optimizers import OptimizerHazard, Step
    from devfix.analysis.observations.tensors import (
        Binding,
        DataSource,
        DeviceAssignment,
        Transfer,
    )
    from devfix.analysis.program import Lookups
    from devfix.model import Coverage
    from devfix.syntax.tree import SourceTree

__all__ = ["Observations"]

R = TypeVar("R")


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
        numbers_read: positions where the host reads Python numbers, too.
        random_results: site ids of created CPU tensors that a function returns if its random branch does not return an
            accelerator tensor.
        moves: moves of modules to the accelerator.
        module_references: references to modules in attributes of other objects.
        parameter_copies: copies of parameters, by position and module.
        shape_dependencies: the parameter whose shape a created tensor has, by site id.
        creation_points: per created tensor, one program point for each call path.
        dataset_values: site ids of created tensors that a dataset is built from.
        returns_tensor: whether a call of a project function always returns one tensor.
        device_assignments: per call, the devices on which it places values.
        scattered: arguments of ``DataParallel`` modules, which move them to an accelerator, with their values before.
        steps: optimizer steps, once per call.
        checks_availability: the program checks whether an accelerator is available.
        has_configured_device: an option, an argument or a variable selects the device.
        has_fixed_index: the program hard-codes an index other than 0: ``cuda:1``.
        may_use_second: the run names an accelerator by another index than 0, which may be computed, or has decided a
            condition that several accelerators or processes decide otherwise.
        sets_current_device: the program selects the accelerator that ``cuda`` names.
        foreign_index: the only hard-coded device in a program that otherwise chooses its device.
        is_distributed: the program starts a process group.
        set_current: the first call of ``torch.cuda.set_device``.
        no_accelerator: the observations without an accelerator (:mod:`devfix.analysis.scenarios`), if they can differ.
        multi_accelerator: the observations with two accelerators, if they can differ; the ``cpu`` operands of their
            mismatches are on the accelerator that is not the current device.
        configured: the observations with other configuration files, if the command line may name one of several.
        offloading: the observations of objects that move their modules to the CPU and back
            (:mod:`devfix.analysis.callers.offloading`), if a class of a library does.
        is_complete: the interpretation reached the end of the program within its step budget.
        preferred_device: the device that fixes prefer, if configured.
        targets: what ``devfix port`` makes the program run on, with the release of PyTorch that the project declares.
        release: the release of PyTorch that the project declares, or that its README names.
        saves_on_cpu: the project moves all weights that it saves to the CPU, if the program loads checkpoints.
        trees: the files of the program, the entry script first; of a library, its file alone.
        lookups: the names that were looked for in folders: imports and configuration files.
        is_library: the functions of the file are called as any caller would call them; no program runs it.
        reached: path and line of the functions that the program calls.
        coverage: by line, what became of the functions of the file.

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
    numbers_read: set[tuple[str, int, int]] = field(default_factory=set)
    random_results: set[int] = field(default_factory=set)
    moves: list[ProgramPoint] = field(default_factory=list)
    module_references: list[ModuleReference] = field(default_factory=list)
    parameter_copies: dict[tuple[object, ...], ParameterCopy] = field(default_factory=dict)
    shape_dependencies: dict[int, ShapeDependency] = field(default_factory=dict)
    creation_points: dict[int, list[ProgramPoint]] = field(default_factory=dict)
    dataset_values: set[int] = field(default_factory=set)
    returns_tensor: dict[ast.Call, bool] = field(default_factory=dict)
    device_assignments: dict[ast.Call, dict[Device, DeviceAssignment]] = field(default_factory=dict)
    scattered: dict[ast.expr, Value] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    checks_availability: bool = False
    has_configured_device: bool = False
    has_fixed_index: bool = False
    may_use_second: bool = False
    sets_current_device: bool = False
    foreign_index: str | None = None
    is_distributed: bool = False
    set_current: ProgramPoint | None = None
    no_accelerator: Observations | None = None
    multi_accelerator: Observations | None = None
    configured: list[Observations] = field(default_factory=list)
    offloading: Observations | None = None
    is_complete: bool = True
    preferred_device: str | None = None
    targets: PortTargets = field(default_factory=PortTargets)
    release: tuple[int, int] | None = None
    saves_on_cpu: bool = False
    trees: tuple[SourceTree, ...] = ()
    lookups: Lookups = field(default_factory=dict)
    is_library: bool = False
    reached: set[tuple[str, int]] = field(default_factory=set)
    coverage: dict[int, Coverage] = field(default_factory=dict)
    _records: dict[type, dict[object, Any]] = field(default_factory=dict)
    _visits: Counter[tuple[object, ...]] = field(default_factory=Counter)

    def is_new(self, *key: object, visits: int = 1) -> bool:
        """Return whether something with this key is observed for the first time, or the first ``visits`` times.

        The interpreter visits the body of a loop once per round, and finds the same there each time.
        """
        self._visits[key] += 1
        return self._visits[key] <= visits

    def record(self, record: R, key: object = None) -> R:
        """Add what a rule has observed, a frozen dataclass; return the record that is kept.

        The interpreter visits code several times, so only the first record of a type with a ``key`` is kept: usually
        the code's position (``point.key``).  Without a key, only the first of equal records is kept.
        """
        known: dict[object, R] = self._records.setdefault(type(record), {})
        return known.setdefault(record if key is None else key, record)

    def recorded(self, kind: type[R], key: object) -> R | None:
        """Return the record of a type with a key; ``None`` if there is none."""
        return self._records.get(kind, {}).get(key)

    def of(self, kind: type[R]) -> list[R]:
        """Return the records of a type, in program order."""
        return list(self._records.get(kind, {}).values())

    def number(self, call: ast.Call) -> int:
        """Return the index of a call in :attr:`device_assignments`: the ``site_id`` of ``moved`` origins."""
        return list(self.device_assignments).index(call)
