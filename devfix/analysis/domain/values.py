"""Abstract values: the interpreter's knowledge of a Python object.

Values are immutable.  Objects with identity (modules, instances, lists, optimizers …) are entries of the heap
(:mod:`devfix.analysis.domain.objects`), referenced by a :class:`Pointer`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from devfix.analysis.domain.records import dataclass, replace

if TYPE_CHECKING:
    from devfix.analysis.program import PythonModule

__all__ = [
    "ACCELERATOR",
    "CPU",
    "FIRST_ROUND",
    "LATER_ROUND",
    "MOST_OBJECTS",
    "NONE",
    "OTHER_ACCELERATOR",
    "UNKNOWN",
    "UNKNOWN_DEVICE",
    "UNNAMED",
    "WIDENING_LIMIT",
    "Bound",
    "Builtin",
    "ClassValue",
    "Const",
    "DType",
    "Device",
    "DeviceValue",
    "External",
    "Function",
    "IterableOf",
    "Keywords",
    "Namespace",
    "Number",
    "Origin",
    "Parameters",
    "Partial",
    "Pointer",
    "Super",
    "Tensor",
    "Text",
    "TupleValue",
    "Union",
    "Unknown",
    "Value",
    "alternatives",
    "anywhere",
    "join",
    "present",
]

WIDENING_LIMIT = 6
MOST_OBJECTS = 16  # of the heap: paths of one function create their own
UNNAMED = "?"  # begins a symbol
FIRST_ROUND, LATER_ROUND = "?first:", "?later:"  # begin those of a counter, before its loop and where it starts
MOST_ORIGINS = 4  # of a tensor that may be one of several


@dataclass(frozen=True, eq=False)
class Device:
    """The device of a tensor or module: ``cpu``, ``accelerator``, ``other`` (a second accelerator) or ``unknown``.

    There is one object for each, so that comparisons are those of identities.
    """

    kind: str

    @property
    def known(self) -> bool:
        """Return whether the device is known."""
        return self.kind != "unknown"

    def differs(self, other: Device) -> bool:
        """Return whether both devices are known and different."""
        return self.known and other.known and self.kind != other.kind


CPU = Device("cpu")
ACCELERATOR = Device("accelerator")
UNKNOWN_DEVICE = Device("unknown")
OTHER_ACCELERATOR = Device("other")  # not the current accelerator; only in the scenario with two of them


@dataclass(frozen=True)
class Origin:
    """The creation of a tensor, usually of one on the CPU.

    Attributes:
        kind: ``batch`` (an item of a loader's batch), ``load`` (``torch.load``), ``made`` (a factory), ``parameter``,
            ``buffer``, ``moved`` (an explicit move to the CPU), ``stored`` (only the attribute is known), ``kept`` (an
            element of a list, on any device), ``dropped`` (a move whose result is unused), ``wrapped`` (the result of a
            NumPy function of an accelerator tensor) or ``leaf-moved`` (the copy
            of a leaf on the accelerator).
        site_id: number of the batch, call, module, list or move, by ``kind``.
        path: keys and indices from the batch to the item.
        attribute_id: number of the attribute that the tensor was read from
            (:class:`devfix.analysis.observations.AttributeStore`); 0 if from none.

    """

    kind: str
    site_id: int = 0
    path: tuple[str, ...] = ()
    attribute_id: int = 0

    @property
    def source_id(self) -> int | None:
        """The number of the :class:`devfix.analysis.observations.DataSource`; ``None`` for other kinds of creations."""
        return self.site_id if self.kind in ("batch", "made") else None


@dataclass(frozen=True)
class Unknown:
    """An unknown value.  Equal ``symbol``: the same value, so that correlated branches are decided together.

    A symbol that begins with :data:`UNNAMED` tells the value from others and says nothing of it; others are names of
    options, such as ``args.gpu``, whose words count.
    """

    symbol: str = ""


@dataclass(frozen=True)
class Const:
    """A literal: str, int, float, bool, None, bytes, Ellipsis."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and type(other.value) is type(self.value) and other.value == self.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True)
class Number:
    """A number that is not a tensor; ``is_float``: it is certainly a ``float``."""

    symbol: str = ""
    is_float: bool = False


@dataclass(frozen=True)
class Text:
    """An unknown string; it is one of ``choices``, if there are any."""

    symbol: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeviceValue:
    """A device, or (``text``) a string that names one."""

    device: Device
    text: bool = False
    symbol: str = ""


@dataclass(frozen=True)
class DType:
    """A ``torch.dtype``."""


@dataclass(frozen=True)
class Tensor:
    """A tensor.

    Attributes:
        device: its device.
        origins: its possible creations.
        is_certain: false for an item of a batch of an unknown dataset, which may be a list of strings.
        maybe_container: it may be a container of tensors (model outputs, checkpoints, unknown batches); any attribute
            or item is then another such value.
        maybe_zero_dim: it may have no dimensions.
        grad: it requires grad, so ``.numpy()`` fails without ``.detach()``.
        is_single_number: it certainly has one element.

    """

    device: Device
    origins: tuple[Origin, ...] = ()
    is_certain: bool = True
    maybe_container: bool = False
    maybe_zero_dim: bool = False
    grad: bool = False
    is_single_number: bool = False

    @property
    def may_be_number(self) -> bool:
        """Whether it is an entry of a checkpoint that nothing has used as a tensor."""
        return not self.is_certain and any(origin.kind == "load" for origin in self.origins)


@dataclass(frozen=True)
class Parameters:
    """The parameters of a module (``model.parameters()``, filtered or not).

    ``module_ids`` are the identifiers of the module and its submodules at that time.
    """

    module: Pointer
    named: bool = False
    module_ids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Pointer:
    """A pointer to a heap object."""

    id: int


@dataclass(frozen=True)
class TupleValue:
    """A tuple of known length."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class IterableOf:
    """An iterable of ``element`` (generators, ``enumerate``, ``zip``, ``map`` …)."""

    element: Value


@dataclass(frozen=True, eq=False)
class Function:
    """A project function with the environment in which it was defined."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: PythonModule
    scope: tuple[int, ...]
    owner: ClassValue | None = None
    defaults: tuple[Value, ...] = ()
    keyword_defaults: tuple[Value | None, ...] = ()
    kind: str = "function"  # function, property, static, class


@dataclass(frozen=True)
class Bound:
    """A method bound to its receiver."""

    function: Function
    receiver: Value


@dataclass(frozen=True)
class Builtin:
    """A method that devfix models, bound to its receiver: ``Builtin(tensor, "to")``."""

    receiver: Value
    name: str


@dataclass(frozen=True)
class Super:
    """``super()``: attribute lookup on ``receiver`` after ``owner`` in method resolution order."""

    owner: ClassValue
    receiver: Value


@dataclass(frozen=True)
class Partial:
    """``functools.partial``."""

    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class External:
    """A name outside the project: ``torch.nn.Linear``."""

    name: str


@dataclass(frozen=True, eq=False)
class Namespace:
    """A Python module of the project."""

    module: PythonModule


@dataclass(frozen=True)
class ImportedName:
    """What an imported module binds by ``from … import``, before its first use: the other file may not be read yet."""

    module: PythonModule
    statement: ast.ImportFrom
    name: str


@dataclass(frozen=True, eq=False)
class ClassValue:
    """A project class."""

    node: ast.ClassDef
    module: PythonModule
    bases: tuple[Value, ...]
    scope: int
    dataclass: bool = False


@dataclass(frozen=True, eq=False)
class Union:
    """One of several values, depending on the path; their order makes no difference."""

    alternatives: tuple[Value, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Union) and frozenset(self.alternatives) == frozenset(other.alternatives)

    def __hash__(self) -> int:
        return hash(frozenset(self.alternatives))


Value = (
    Unknown
    | Const
    | Number
    | Text
    | DeviceValue
    | DType
    | Tensor
    | Parameters
    | Pointer
    | TupleValue
    | IterableOf
    | Function
    | Bound
    | Builtin
    | Super
    | Partial
    | External
    | Namespace
    | ImportedName
    | ClassValue
    | Union
)

# Keyword arguments of a call.
Keywords = dict[str, Value]

UNKNOWN = Unknown()
NONE = Const(None)


def alternatives(value: Value) -> tuple[Value, ...]:
    """Return the alternatives of a value; the value itself if it is no union."""
    return value.alternatives if isinstance(value, Union) else (value,)


def present(value: Value) -> tuple[Value, ...]:
    """Return the alternatives without ``None``, which has no attributes and no items; ``None`` if there is no other."""
    return tuple(option for option in alternatives(value) if option != NONE) or (value,)


def anywhere(value: Value) -> Value:
    """Return a tensor, or each tensor of a tuple, on an unknown device."""
    match value:
        case Tensor():
            return replace(value, device=UNKNOWN_DEVICE, origins=())
        case TupleValue(items):
            return TupleValue(tuple(map(anywhere, items)))
        case IterableOf(element):
            return replace(value, element=anywhere(element))
        case Union(options):
            return join(map(anywhere, options))
    return value


def join(values: Iterable[Value]) -> Value:
    """Return the join of ``values``; beyond ``WIDENING_LIMIT`` alternatives, each kind of them is widened."""
    given = values if isinstance(values, (tuple, list)) else list(values)
    if len(given) == 1 and not isinstance(given[0], Union):
        return given[0]
    found: dict[Value, None] = {}
    for value in given:
        if isinstance(value, Union):
            found.update(dict.fromkeys(value.alternatives))
        else:
            found[value] = None
    if len(found) > 1:
        found = _without_gradients(_without_identities(found))
    if len(found) > WIDENING_LIMIT:
        found = _widened(found)
    if not found:
        return UNKNOWN
    return next(iter(found)) if len(found) == 1 else Union(tuple(found))


def _without_identities(options: dict[Value, None]) -> dict[Value, None]:
    """Return alternatives with one unknown value for those that only their symbols tell apart."""
    plain = [each for each in options if isinstance(each, Unknown) and each.symbol[:1] in ("", UNNAMED)]
    if len(plain) < 2:
        return options
    return dict.fromkeys(
        UNKNOWN if each is plain[0] else each for each in options if each is plain[0] or each not in plain
    )


def _without_gradients(options: dict[Value, None]) -> dict[Value, None]:
    """Return alternatives with one tensor for two of which only one requires grad."""
    spare = [
        plain
        for each in options
        if isinstance(each, Tensor) and each.grad and (plain := replace(each, grad=False)) in options
    ]
    return {each: None for each in options if each not in spare} if spare else options


def _widened(options: Iterable[Value]) -> dict[Value, None]:
    """Return one tensor per device, one number, one string, and up to ``WIDENING_LIMIT`` others or an unknown value."""
    kinds: dict[object, list[Value]] = {}
    for option in options:
        kinds.setdefault(_kind(option), []).append(option)
    return dict.fromkeys(value for kind, members in kinds.items() for value in _summary(kind, members))


def _kind(value: Value) -> object:
    match value:
        case Tensor(device):
            return device
        case Const(None | bool()):
            return Const
        case Number() | Const(int() | float()):
            return Number
        case Text() | Const(str()):
            return Text
        case Pointer():
            return Pointer
        case Parameters():  # of the modules that a name may stand for
            return Parameters
        case ClassValue():  # of which an option chooses one
            return ClassValue
        case Bound() | Builtin():  # methods of the objects that a name may stand for
            return Bound
    return None


def _summary(kind: object, members: list[Value]) -> list[Value]:
    if kind in (None, Pointer, Parameters, Bound, ClassValue):
        most = WIDENING_LIMIT if kind is None else MOST_OBJECTS
        return members if len(members) <= most else [UNKNOWN]
    if len(members) == 1 or kind is Const:
        return members
    if isinstance(kind, Device):
        return [_any_of([member for member in members if isinstance(member, Tensor)])]
    return [Number() if kind is Number else Text()]


def _any_of(tensors: list[Tensor]) -> Tensor:
    """Return a tensor that may be any of several on one device."""
    origins = {origin for tensor in tensors for origin in tensor.origins}
    return Tensor(
        tensors[0].device,
        tuple(sorted(origins, key=astuple)[:MOST_ORIGINS]),
        is_certain=all(tensor.is_certain for tensor in tensors),
        maybe_container=any(tensor.maybe_container for tensor in tensors),
        maybe_zero_dim=any(tensor.maybe_zero_dim for tensor in tensors),
        grad=any(tensor.grad for tensor in tensors),
        is_single_number=all(tensor.is_single_number for tensor in tensors),
    )
