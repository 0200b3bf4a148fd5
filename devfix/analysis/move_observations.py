"""What a run establishes about the lines that move or place values, each by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from devfix.analysis.domain.location import Site
    from devfix.analysis.domain.values import Birth, Place

__all__ = ["Dropped", "Flagged", "LeafMove", "Placing", "Transfer", "Uncalled", "Wrapped"]


@dataclass(frozen=True, eq=False)
class Transfer:
    """A move of a batch item: ``x.to(device)``.  ``call`` is the expression."""

    birth: Birth
    site: Site
    call: ast.Call
    place: str


@dataclass(frozen=True, eq=False)
class Dropped:
    """A move whose result nobody keeps.

    ``kind``: ``statement`` (``target`` is what was to be moved) or ``loop`` (``stmt`` moves the variable of ``loop``,
    and ``target`` holds the items).
    """

    kind: str
    site: Site
    stmt: ast.stmt
    call: ast.Call
    target: ast.expr
    loop: ast.For | ast.AsyncFor | None = None


@dataclass(frozen=True, eq=False)
class Uncalled:
    """``x.cuda`` without parentheses."""

    site: Site
    node: ast.Attribute
    latent: bool = False


@dataclass(frozen=True, eq=False)
class Flagged:
    """``x.cuda(True)``: a flag where the device is expected; ``module`` says that ``x`` is one, which takes no flag."""

    site: Site
    call: ast.Call
    module: bool


@dataclass(frozen=True, eq=False)
class LeafMove:
    """A leaf that learns is copied to the accelerator: ``kind`` is ``parameter``, ``leaf`` (``made`` is the
    factory) or ``asked`` (``x.requires_grad_().to(device)``).

    ``uses`` are what is done with the copy that only works for leaves: ``attribute``, ``optimizer``, ``grad`` (which
    works for a copy, too, that was told to keep its gradient: ``retained``).
    """

    number: int
    kind: str
    site: Site
    call: ast.Call
    made: Site | None
    uses: dict[str, Site] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Placing:
    """The first time that ``call`` sends a value to ``place``, or makes it there; ``came`` is where a tensor was."""

    site: Site
    call: ast.Call
    place: Place
    latent: bool = False
    came: Place | None = None


@dataclass(frozen=True, eq=False)
class Wrapped:
    """``call`` puts a module that was moved to the accelerator into ``DataParallel`` with ``ids``, a literal list."""

    site: Site
    call: ast.Call
    ids: ast.List
    moved: Site
    latent: bool = False
