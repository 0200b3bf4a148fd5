"""Abstract values: what the interpreter knows of a Python object.

Values are immutable.  Objects with identity (modules, instances, lists, optimizers …) are :class:`HeapObject` entries of
the heap (:mod:`devfix.analysis.domain.state`), and a :class:`Pointer` points at one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.program import PythonModule

__all__ = [
    "ACCELERATOR",
    "CPU",
    "NONE",
    "OTHER_ACCELERATOR",
    "UNKNOWN",
    "UNKNOWN_DEVICE",
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
    "HeapObject",
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
    "join",
]

WIDENING_LIMIT = 6


@dataclass(frozen=True)
class Device:
    """Where a tensor or module lives: ``cpu``, ``accelerator`` or ``unknown``."""

    kind: str

    @property
    def known(self) -> bool:
        """Whether the code tells."""
        return self.kind != "unknown"

    def differs(self, other: Device) -> bool:
        """Whether two places are known and different."""
        return self.known and other.known and self.kind != other.kind


CPU = Device("cpu")
ACCELERATOR = Device("accelerator")
UNKNOWN_DEVICE = Device("unknown")
OTHER_ACCELERATOR = Device("other")  # an accelerator that is not the current one: on the machine with two of them


@dataclass(frozen=True)
class Origin:
    """Where a CPU tensor comes from.

    ``kind``: ``batch`` (an item of what a loader yields: ``site_id`` is the batch, ``path`` the way into it), ``load``
    (``site_id`` is the call of ``torch.load``), ``made`` (a factory), ``parameter``, ``buffer``, ``moved`` (sent to the CPU
    by hand), ``stored`` (no more is known than the attribute that holds it), ``kept`` (in the list that is ``site_id``,
    wherever it lives), ``dropped`` (by the move ``site_id``, whose result nobody kept), ``leaf-moved`` (the copy of a
    leaf on the accelerator).  ``attribute_id`` is the number of the attribute that the tensor was read from
    (:class:`devfix.analysis.observations.AttributeStore`), 0 where it comes from none.
    """

    kind: str
    site_id: int = 0
    path: tuple[str, ...] = ()
    attribute_id: int = 0


@dataclass(frozen=True)
class Unknown:
    """Anything.  ``symbol`` names the same unknown thing wherever it is met; it decides correlated branches."""

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
    """A number that is not a tensor."""

    symbol: str = ""


@dataclass(frozen=True)
class Text:
    """Some string."""

    symbol: str = ""


@dataclass(frozen=True)
class DeviceValue:
    """A device, or (``text``) the string that names one."""

    device: Device
    text: bool = False
    symbol: str = ""


@dataclass(frozen=True)
class DType:
    """A ``torch.dtype``."""


@dataclass(frozen=True)
class Tensor:
    """A tensor.

    ``sure`` is false for a batch item whose dataset is not known: it may be a list of strings.  ``maybe_container`` values may
    be containers of tensors (model outputs, checkpoints, unknown batches): any attribute or item of them is another.
    ``maybe_zero_dim`` tensors may have no dimensions, ``single`` ones are certainly one number.  ``grad``: it came out of
    weights that learn, so NumPy refuses it undetached.
    """

    device: Device
    origins: tuple[Origin, ...] = ()
    is_certain: bool = True
    maybe_container: bool = False
    maybe_zero_dim: bool = False
    grad: bool = False
    is_single_number: bool = False


@dataclass(frozen=True)
class Parameters:
    """The parameters of a module (``model.parameters()``, filtered or not); ``held`` are its parts at that moment."""

    module: Pointer
    named: bool = False
    module_ids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Pointer:
    """A pointer into the heap."""

    id: int


@dataclass(frozen=True)
class TupleValue:
    """A tuple of known length."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class IterableOf:
    """Something that yields ``element`` (generators, ``enumerate``, ``zip``, ``map`` …)."""

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
    """``super()``: the attributes of ``receiver`` seen from above ``owner``."""

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
    """Something that an import outside the project names: ``torch.nn.Linear``."""

    name: str


@dataclass(frozen=True, eq=False)
class Namespace:
    """A project module as a value."""

    module: PythonModule


@dataclass(frozen=True, eq=False)
class ClassValue:
    """A project class."""

    node: ast.ClassDef
    module: PythonModule
    bases: tuple[Value, ...]
    scope: int
    dataclass: bool = False


@dataclass(frozen=True)
class Union:
    """One of several values, depending on the path."""

    alternatives: tuple[Value, ...]


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
    | ClassValue
    | Union
)

# What a call gives by name.
Keywords = dict[str, Value]

UNKNOWN = Unknown()
NONE = Const(None)


def alternatives(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value; itself where there is only one."""
    return value.alternatives if isinstance(value, Union) else (value,)


def join(values: Iterable[Value]) -> Value:
    """One value that is any of ``values``; unknown where there are too many."""
    found: dict[Value, None] = {}
    for value in values:
        for option in alternatives(value):
            found[option] = None
    if not found:
        return UNKNOWN
    if len(found) == 1:
        return next(iter(found))
    if len(found) > WIDENING_LIMIT:
        return UNKNOWN
    return Union(tuple(found))


@dataclass(frozen=True)
class HeapObject:
    """An object with identity.

    ``kind`` is ``module``, ``instance``, ``list``, ``dict``, ``set``, ``optimizer``, ``loader``, ``dataset``,
    ``parser``, ``scaler``, ``scheduler``, ``distribution`` or ``opaque``.  ``fields`` holds attributes, or list items
    under ``"0"``, ``"1"`` …, or dictionary entries; ``default_item`` stands for every other item.  ``devices`` are
    the alternatives for a module's own weights.
    """

    kind: str
    name: str = ""
    cls: ClassValue | None = None
    fields: dict[str, Value] = field(default_factory=dict)
    default_item: Value | None = None
    devices: frozenset[Device] = frozenset()
    weights: bool = False
    allocated_at: ProgramPoint | None = None
    last_moved_at: ProgramPoint | None = None
    attached_at: ProgramPoint | None = None
    info: tuple[tuple[str, Any], ...] = ()

    def get(self, name: str, default: Any = None) -> Any:
        """One entry of ``info``."""
        return next((value for key, value in self.info if key == name), default)
