"""Kinds of arguments, and the evidence for them."""

from __future__ import annotations

from enum import Enum

from devfix.analysis.domain.records import dataclass

__all__ = ["UNKNOWN", "Argument", "Evidence", "Kind", "union"]


class Kind(Enum):
    """What an argument is."""

    TENSOR = "tensor"
    TENSORS = "list or tuple of tensors"
    TENSOR_DICT = "dictionary of tensors"
    BATCH = "batch that a framework has moved"
    MODULE = "module"
    DEVICE = "device"
    DTYPE = "dtype"
    NUMBER = "number"
    BOOL = "bool"
    TEXT = "text"
    ARRAY = "array or image outside PyTorch"
    LIST = "list of numbers or of unknown values"
    CALLABLE = "callable"
    UNKNOWN = "unknown"


class Evidence(Enum):
    """What the kind of an argument is inferred from, strongest first."""

    PROTOCOL = "protocol of a framework"
    ANNOTATION = "annotation"
    CHECK = "check"
    DOCSTRING = "docstring"
    DEFAULT = "default"
    USE = "use"
    NAME = "name"
    NONE = "none"


@dataclass(frozen=True)
class Argument:
    """What a function expects of one argument.

    Attributes:
        kind: the kind that callers pass; of several, the one with tensors.
        optional: whether ``None`` is expected, too.
        alternatives: other kinds that the code provides for.
        evidence: what decides ``kind``.
        parts: of a list that the function unpacks, what each of its items is.

    """

    kind: Kind
    optional: bool = False
    alternatives: frozenset[Kind] = frozenset()
    evidence: Evidence = Evidence.NONE
    parts: tuple[Argument, ...] = ()

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return every kind that the code provides for."""
        return self.alternatives | {self.kind}


UNKNOWN = Argument(Kind.UNKNOWN)

# The first kind that is there is the main one of several.
_PRECEDENCE = (Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_DICT, Kind.MODULE, Kind.DEVICE, Kind.DTYPE)


def union(kinds: list[Kind], optional: bool, evidence: Evidence) -> Argument:
    """Return an argument that may be of several kinds; the main one is a kind with tensors, else the first."""
    kinds = kinds or [Kind.UNKNOWN]
    main = next((kind for kind in _PRECEDENCE if kind in kinds), kinds[0])
    return Argument(main, optional, frozenset(kinds) - {main, Kind.UNKNOWN}, evidence)
