"""Votes: what the uses of one argument say together."""

from __future__ import annotations

import ast
from dataclasses import field

from devfix.analysis.callers.arguments import Kind
from devfix.analysis.domain.records import dataclass

__all__ = ["ANY_KIND", "SEQUENCES", "Forward", "Votes"]

SEQUENCES = frozenset({Kind.TENSOR, Kind.TENSORS, Kind.ARRAY, Kind.LIST, Kind.TEXT, Kind.TENSOR_DICT, Kind.MODULE})
_ARRAYS = frozenset({Kind.TENSOR, Kind.ARRAY})
_MOVABLE = _ARRAYS | {Kind.MODULE}
ANY_KIND = frozenset(Kind) - {Kind.UNKNOWN}


@dataclass(frozen=True)
class Forward:
    """An argument that is passed on to a function of the file.

    Attributes:
        function: the function that receives it.
        owner: the class of a method.
        place: the position among the parameters without ``self``, or the keyword.

    """

    function: ast.FunctionDef | ast.AsyncFunctionDef
    owner: ast.ClassDef | None
    place: int | str


@dataclass(eq=False)
class Votes:
    """What the uses of one argument say together.

    Attributes:
        possible: the kinds that all uses allow; empty if they contradict each other.
        strong: kinds that a use shows by itself.
        weak: arrays and tensors, if a use suggests them without telling them apart.
        required: kinds that a check requires of every caller.
        checked: kinds that the code tells apart.
        optional: whether the argument is compared with ``None``.
        is_moved: whether it has a device or a method that moves it, as arrays, tensors and modules have.
        is_sequence: whether it is iterated, unpacked or read at an integer.
        is_module: whether it has a method that modules alone have.
        has_own_attributes: whether it has an attribute that no class of a library explains.
        is_scalar: whether the code branches on its truth or order, as on a number.
        forwards: functions of the file that receive it.
        elements: what the uses of its elements say, if it is iterated.
        parts: the names to which it is unpacked, and what the uses of each say.

    """

    possible: frozenset[Kind] = ANY_KIND
    strong: set[Kind] = field(default_factory=set)
    weak: set[Kind] = field(default_factory=set)
    required: set[Kind] = field(default_factory=set)
    checked: set[Kind] = field(default_factory=set)
    optional: bool = False
    is_moved: bool = False
    is_sequence: bool = False
    is_module: bool = False
    has_own_attributes: bool = False
    is_scalar: bool = False
    forwards: list[Forward] = field(default_factory=list)
    elements: Votes | None = None
    parts: tuple[tuple[str, Votes], ...] = ()

    def allow(self, kinds: frozenset[Kind]) -> None:
        """Count a use that values of these kinds allow."""
        self.possible &= kinds
        if kinds <= _ARRAYS:
            self.weak |= kinds
        self.is_moved |= kinds <= _MOVABLE

    def contain(self) -> None:
        """Count a use that values with elements allow."""
        self.allow(SEQUENCES)
        self.is_sequence = True

    def rule_out(self, *kinds: Kind) -> None:
        """Count a use that values of these kinds do not allow."""
        self.possible -= set(kinds)

    def show(self, kind: Kind, *others: Kind) -> None:
        """Count a use that shows a kind; ``others`` allow it, too."""
        self.strong.add(kind)
        self.possible &= {kind, *others}

    def element(self) -> Votes:
        """Return the votes for the elements."""
        if self.elements is None:
            self.elements = Votes()
        return self.elements

    def unpacked(self, names: list[str]) -> tuple[tuple[str, Votes], ...]:
        """Return the votes for the parts that these names get; none where it is unpacked in two ways."""
        if not self.parts:
            self.parts = tuple((name, Votes()) for name in names)
        return self.parts if len(self.parts) == len(names) else ()
