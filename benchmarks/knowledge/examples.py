"""An example: one call, and one program for each choice of the operands that stay on the CPU."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

__all__ = ["Confirmed", "Example", "Operand", "Placement", "moved", "placements"]

#: The positions of the operands that stay on the CPU.
Placement = frozenset[int]


class Operand(NamedTuple):
    """A tensor or a module that takes part in a call: its name, and its source on either device."""

    name: str
    cpu: str
    accelerator: str


class Example(NamedTuple):
    """One call of a public function.

    Attributes:
        group: the row of the table that counts it.
        name: the function, unique within its group: ``torch.mm``, ``Tensor.add_``, ``+=``.
        operands: the values whose devices must agree, in the order of their assignments.
        statement: the last line of the program, the call.
        imports: import statements besides ``import torch``.
        setup: statements between the imports and the operands.
        broken: the placements that may fail, the preferred one first; empty for all.

    """

    group: str
    name: str
    operands: tuple[Operand, ...]
    statement: str
    imports: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    broken: tuple[Placement, ...] = ()

    @property
    def candidates(self) -> tuple[Placement, ...]:
        """The placements that may fail, the preferred one first."""
        return self.broken or tuple(placements(len(self.operands)))

    def program(self, on_cpu: Collection[int] = ()) -> str:
        """Return the program with the operands at these positions on the CPU, the others on the accelerator."""
        imports = sorted(("import torch", *self.imports), key=lambda line: (line.startswith("from "), line))
        lines = [
            f"{operand.name} = {operand.cpu if position in on_cpu else operand.accelerator}"
            for position, operand in enumerate(self.operands)
        ]
        return "\n".join([*imports, "", *self.setup, *lines, self.statement, ""])


class Confirmed(NamedTuple):
    """An example whose programs have been run.

    Attributes:
        example: the example.
        repaired: a placement that runs, as a rule with every operand on the accelerator.
        broken: the placements that fail with a device error, the preferred one first.
        mixed: the placements that run with operands on both devices.

    """

    example: Example
    repaired: Placement
    broken: tuple[Placement, ...]
    mixed: tuple[Placement, ...]


def moved(name: str, source: str) -> Operand:
    """Return an operand that ``.cuda()`` moves."""
    return Operand(name, source, f"{source}.cuda()")


def placements(count: int) -> Iterator[Placement]:
    """Yield the placements of one operand on the CPU, the second operand first, then those of all but one."""
    order = [*range(1, count), 0]
    alone = [frozenset({position}) for position in order]
    yield from dict.fromkeys(alone + [frozenset(range(count)) - each for each in alone] if count > 1 else ())
