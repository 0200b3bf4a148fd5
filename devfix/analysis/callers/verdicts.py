"""Verdicts: the kind of an argument from what is said of it and from its uses."""

from __future__ import annotations

from collections.abc import Iterable

from devfix.analysis.callers.arguments import Argument, Evidence, Kind
from devfix.analysis.callers.votes import Votes
from devfix.analysis.domain.records import dataclass

__all__ = ["Place", "may_be_namesake", "with_uses"]

# Kinds that a check for one of them says of the argument; lists and names are often accepted in place of something else
_DECIDED_BY_CHECKS = frozenset(
    {Kind.NUMBER, Kind.BOOL, Kind.ARRAY, Kind.CALLABLE, Kind.MODULE, Kind.DEVICE, Kind.DTYPE}
)
# Words in names of arrays outside PyTorch
_ARRAY_WORDS = frozenset("np numpy ndarray nparray pil df".split())
# Words in names of modules
_MODULE_WORDS = frozenset(
    "model net network encoder decoder generator discriminator backbone unet vae actor critic policy".split()
)
# Words in names of objects that `forward` of a criterion, a pipeline or a graph network receives
_OBJECT_WORDS = frozenset(
    "model net network module encoder decoder batch data graph sample samples sentence sentences text texts "
    "prompt prompts config stage args kwargs outputs state dist distribution tokenizer dict list tuple fn func "
    "tensordict td".split()
)
# Names that say nothing, so that their namesakes say nothing, either
_COMMON_NAMES = frozenset(
    "value values input inputs index idx indices item other params key size time step stage predictions".split()
)
_VERBS = frozenset("is as to return returns use from has make get set with".split())
# Names that libraries of models give to tensors
_CONVENTIONAL = frozenset(
    "hidden_states encoder_hidden_states attention_mask input_ids position_ids inputs_embeds logits edge_index".split()
)


@dataclass(frozen=True)
class Place:
    """Where an argument stands.

    Attributes:
        name: its name.
        index: its position.
        is_forward: whether the function is ``forward`` of a module.
        is_module_method: whether the function is a method of a module.
        is_object: whether the argument is named like a class of the file.
        has_arrays: whether arrays outside PyTorch may be meant: the file does not use PyTorch, or the function uses
            NumPy or an image library, too.
        is_numpy_only: whether the function uses NumPy, and PyTorch nowhere.

    """

    name: str
    index: int
    is_forward: bool
    is_module_method: bool
    is_object: bool
    has_arrays: bool
    is_numpy_only: bool = False


def with_uses(said: Argument, votes: Votes, received: Iterable[Argument], place: Place) -> Argument:
    """Return what an argument is.

    Args:
        said: what docstring and default say.
        votes: what the uses say.
        received: what the functions that it is passed on to say.
        place: where the argument stands.

    """
    strong, possible = set(votes.strong), set(votes.possible)
    if votes.has_own_attributes and not votes.is_module:
        possible.clear()  # an object of a class that is not known
    for argument in received:
        if argument.kind is not Kind.UNKNOWN:
            possible &= argument.kinds
            if not argument.alternatives:
                strong.add(argument.kind)
    if place.is_object or not _ARRAY_WORDS.isdisjoint(place.name.split("_")):
        possible.discard(Kind.TENSOR)
    kind, evidence = _decide(said, votes, strong & possible, possible, place)
    others = set(votes.checked | votes.required | said.alternatives)
    if said.evidence is Evidence.DEFAULT:
        others.add(said.kind)
    return Argument(kind, said.optional or votes.optional, frozenset(others) - {kind, Kind.UNKNOWN}, evidence)


def _decide(said: Argument, votes: Votes, shown: set[Kind], possible: set[Kind], place: Place) -> tuple[Kind, Evidence]:
    checked = votes.checked | votes.required
    if Kind.TENSOR in checked:
        return Kind.TENSOR, Evidence.CHECK
    if said.kind is Kind.TENSOR and said.evidence is Evidence.DOCSTRING and place.is_numpy_only:
        return Kind.UNKNOWN, Evidence.NONE  # the docstring is about what the array was made of
    if said.evidence in (Evidence.DOCSTRING, Evidence.DEFAULT):
        return said.kind, said.evidence
    if shown == {Kind.CALLABLE} and Kind.MODULE in possible and not _MODULE_WORDS.isdisjoint(place.name.split("_")):
        return Kind.MODULE, Evidence.NAME
    if len(shown) == 1:
        return next(iter(shown)), Evidence.USE
    if Kind.TENSOR in possible & votes.weak and (not place.has_arrays or Kind.ARRAY not in possible):
        return Kind.TENSOR, Evidence.USE
    if Kind.TENSOR in possible and _is_expected(votes, place):
        return Kind.TENSOR, Evidence.NAME
    if len(checked) == 1 and checked <= _DECIDED_BY_CHECKS:
        return next(iter(checked)), Evidence.CHECK
    elements = votes.elements
    if elements is not None and Kind.TENSORS in possible and Kind.TENSOR in elements.strong & elements.possible:
        return Kind.TENSORS, Evidence.USE
    return Kind.UNKNOWN, Evidence.NONE


def _is_expected(votes: Votes, place: Place) -> bool:
    """Return whether tensors are expected here by convention."""
    if place.is_forward and (Kind.TENSOR in votes.weak or votes.is_moved):
        return True
    if votes.is_sequence or not _OBJECT_WORDS.isdisjoint(place.name.split("_")):
        return False
    is_conventional = _is_called_tensor(place.name) or (place.is_module_method and place.name in _CONVENTIONAL)
    return is_conventional or (place.is_forward and place.index == 0)


def _is_called_tensor(name: str) -> bool:
    """Return whether a name says that it is a tensor: ``input_tensor``, and not ``return_tensor``."""
    words = name.lower().split("_")
    return words[-1] == "tensor" and _VERBS.isdisjoint(words)


def may_be_namesake(name: str, votes: Votes, is_object: bool) -> bool:
    """Return whether an argument may be a tensor because arguments of the same name are tensors."""
    is_common = len(name) < 3 or name in _COMMON_NAMES or not _OBJECT_WORDS.isdisjoint(name.split("_"))
    return not (is_common or is_object or votes.is_scalar or votes.is_sequence) and Kind.TENSOR in votes.possible
