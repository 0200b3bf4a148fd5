"""Summaries of functions: after a number of contexts, a call has the joined result of the earlier ones.

So the cost of a program is bounded per function, and no program is left in part for its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devfix.analysis.domain.values import (
    UNKNOWN,
    Bound,
    Builtin,
    IterableOf,
    Parameters,
    Partial,
    Pointer,
    Super,
    TupleValue,
    Union,
    Value,
    join,
)

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter

__all__ = ["Summary"]

MOST_CONTEXTS = 4
MOST_STEPS = 1_500


@dataclass(eq=False)
class Summary:
    """What the calls of one function have done so far.

    Attributes:
        contexts: number of calls that were followed.
        steps: steps that they took, with those of the functions that they called.
        results: their results; an unknown value for one that the call has created.
        changes: a call has changed objects that existed before it.

    """

    contexts: int = 0
    steps: int = 0
    results: list[Value] = field(default_factory=list)
    changes: bool = False

    @property
    def is_settled(self) -> bool:
        """Return whether another context is not worth its cost."""
        return self.contexts >= MOST_CONTEXTS and self.steps >= MOST_STEPS

    @contextmanager
    def context(self, interp: Interpreter) -> Iterator[None]:
        """Count a call that is followed in the body."""
        self.contexts += 1
        steps, start, written = interp.steps, interp.new_id(), len(interp.base.journal)
        try:
            yield
        finally:
            self.steps += interp.steps - steps
            self.changes = self.changes or any(key < start for key in interp.base.journal[written:])

    def note_result(self, result: Value, start: int) -> None:
        """Note the result of a call; objects with identifiers above ``start`` are its own."""
        if not self.is_settled:
            kept = UNKNOWN if any(pointer.id > start for pointer in _pointers([result])) else result
            if kept not in self.results:
                self.results.append(kept)

    def apply(self, interp: Interpreter, arguments: Iterable[Value]) -> Value:
        """Return the result of a call that is not followed; what it may change is unknown afterwards."""
        if self.changes:
            interp.escape(arguments)
        return join(self.results)


def _pointers(values: Iterable[Value]) -> Iterator[Pointer]:
    """Yield the pointers in values."""
    pending: list[Value] = list(values)
    while pending:
        match pending.pop():
            case Pointer() as pointer:
                yield pointer
            case Union(items) | TupleValue(items):
                pending.extend(items)
            case Bound(_, inner) | Builtin(inner, _) | IterableOf(inner) | Super(_, inner) | Parameters(inner):
                pending.append(inner)
            case Partial(_, args, keywords):
                pending.extend([*args, *(value for _, value in keywords)])
