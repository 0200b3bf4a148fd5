"""Operations that fail: operands on different devices, and CPU memory that is read from an accelerator tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.domain.records import dataclass

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import ProgramPoint
    from devfix.analysis.domain.objects import HeapObject
    from devfix.analysis.domain.values import Origin, Pointer, Tensor, Value

__all__ = ["DeviceMismatch", "HostAccess", "Operand"]


@dataclass(frozen=True, eq=False)
class Operand:
    """One operand of a device mismatch: a tensor's origins, or a module whose weights take part.

    ``maybe_zero_dim``: it may be a 0-dimensional tensor.
    """

    text: str
    origins: tuple[Origin, ...] = ()
    module: Pointer | None = None
    is_certain: bool = True
    maybe_zero_dim: bool = False


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
        on_every_path: the operands are on different devices whatever path led here.
        surely_on_accelerator: one of the operands is on the accelerator whatever path led here.

    """

    point: ProgramPoint
    operation: str
    cpu: tuple[Operand, ...]
    accelerator: tuple[Operand, ...]
    opaque: bool = False
    latent: bool = False
    takes_numbers: bool = False
    on_every_path: bool = True
    surely_on_accelerator: bool = True

    @property
    def partners(self) -> list[str]:
        """Return the expressions of the operands on the accelerator, without unnamed ones."""
        return [operand.text for operand in self.accelerator if operand.text not in ("", "…")]


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
        may_be_number: on another path, the value is a number or nothing, without the methods of a tensor.
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
    may_be_number: bool = False
    loader: HeapObject | None = None
    sample: Value | HeapObject | None = None
