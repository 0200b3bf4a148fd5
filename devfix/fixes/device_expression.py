"""How a device is written at a place in a program: one planner for rules and for trace.

A :class:`Source` is one way to name the accelerator there.  An order lists the sources that one kind of edit tries,
best first.  A scope answers the sources: :class:`devfix.fixes.value_scope.ValueScope` by the values that the analysis
has established, :class:`devfix.fixes.syntax_scope.SyntaxScope` by syntax alone, for edits that a run
verifies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

__all__ = [
    "BESIDE_TENSOR",
    "FOR_BATCH",
    "FOR_MODULE",
    "FOR_MOVE",
    "FOR_TENSOR",
    "FOR_TRIAL",
    "Query",
    "Scope",
    "Source",
    "device_expression",
    "device_expressions",
]


class Source(Enum):
    """One way to name a device."""

    PREFERRED = auto()  #: the configured expression, if it is live
    SIMILAR = auto()  #: the device of another move (``Query.like``), if it means the same here
    USED = auto()  #: a device that the function itself reads or binds
    FRAMEWORK = auto()  #: ``self.device`` of an object that a framework places
    MOVES = auto()  #: the destination of a move in the same function
    OPERAND = auto()  #: ``x.device`` of a tensor at hand
    ATTRIBUTE = auto()  #: a device among the attributes of ``self``
    PARAMETERS = auto()  #: ``next(self.parameters()).device`` in a method of a module
    LIVE = auto()  #: any other live expression for a device
    MISMATCHED_MODULE = auto()  #: ``next(model.parameters()).device`` of the module in the mismatch
    MODULE = auto()  #: ``next(model.parameters()).device`` of any live module
    LITERAL = auto()  #: the literal of the other move (``Query.like``)
    FILE_LITERAL = auto()  #: a literal that the file gives as ``device=``


#: For a tensor that is created in a function whose caller must not be named.
BESIDE_TENSOR = (
    Source.PREFERRED,
    Source.USED,
    Source.FRAMEWORK,
    Source.MOVES,
    Source.OPERAND,
    Source.ATTRIBUTE,
    Source.PARAMETERS,
)
#: For a tensor.
FOR_TENSOR = (*BESIDE_TENSOR, Source.LIVE, Source.MODULE)
#: For a move that resembles another one.
FOR_MOVE = (Source.PREFERRED, Source.SIMILAR, Source.LIVE)
#: For an item of a batch.
FOR_BATCH = (*FOR_MOVE, Source.MOVES, Source.MISMATCHED_MODULE, Source.MODULE, Source.LITERAL)
#: For a module.
FOR_MODULE = (*FOR_MOVE, Source.LITERAL, Source.FILE_LITERAL)
#: For an edit that a run verifies.
FOR_TRIAL = (Source.LIVE, Source.MOVES, Source.OPERAND, Source.PARAMETERS)


def _any(_: str) -> bool:
    return True


@dataclass(frozen=True)
class Query:
    """What is known about the value to move.

    Attributes:
        like: the device expression of another move.
        partners: expressions for the other operands, which are on the accelerator.
        modules: identities of the modules whose weights are the other operands.
        bound: require the expression's root name to be bound on every path.
        fits: reject expressions for a device, an operand or a module.

    """

    like: str | None = None
    partners: tuple[str, ...] = ()
    modules: frozenset[int] = frozenset()
    bound: bool = False
    fits: Callable[[str], bool] = _any


class Scope(Protocol):
    """A place in a program at which expressions for a device are looked up."""

    def expressions(self, source: Source, query: Query) -> Iterable[str]:
        """Return the expressions of one source, best first."""


def device_expressions(scope: Scope, order: tuple[Source, ...], query: Query | None = None) -> Iterator[str]:
    """Yield the expressions that may name the accelerator in a scope, best first, each once."""
    seen: set[str] = set()
    for source in order:
        for text in scope.expressions(source, query or Query()):
            if text not in seen:
                seen.add(text)
                yield text


def device_expression(scope: Scope, order: tuple[Source, ...], query: Query | None = None) -> str | None:
    """Return the best expression for the accelerator in a scope; ``None`` if nothing names it."""
    return next(device_expressions(scope, order, query), None)
