"""Examples of functions, methods, in-place forms and operators, from sample calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.knowledge.database import entries, samples
from benchmarks.knowledge.examples import Example, Operand, moved
from benchmarks.knowledge.literals import Unwritable, literal, sequence, tensor_expressions

__all__ = ["Call", "Spelling", "Writer", "examples", "function", "method", "operator", "written"]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_RESERVED = ("out", "result")
#: Operators that do not check their integers; random ones corrupt memory.
_EXACT = ("linalg.ldl_solve",)
_MOST_EXAMPLES = 20
_MOST_EXACT = 6
_LONGEST = 500
_NAME = re.compile(r"[a-z]\w*")
_TINY = re.compile(r"\((\d+, )*0[,)]|rand\(1[,)]|\(1,\)")


class Call(NamedTuple):
    """A sample call as source: its operands, and the arguments that name them."""

    operands: tuple[Operand, ...]
    args: tuple[str, ...]
    kwargs: dict[str, str]

    @property
    def arguments(self) -> str:
        """The arguments between the parentheses of a call."""
        return ", ".join([*self.args, *(f"{key}={value}" for key, value in self.kwargs.items())])


#: Returns the statement of a call in one spelling, or None if the call does not fit.
Spelling = Callable[[Call], "str | None"]


def function(name: str) -> Spelling:
    """Return the spelling ``result = torch.mm(first, second)``."""
    return lambda call: f"result = {name}({call.arguments})"


def method(name: str) -> Spelling:
    """Return the spelling ``result = first.mm(second)``; an in-place method is a statement."""
    target = "" if name.endswith("_") else "result = "

    def spell(call: Call) -> str | None:
        if not call.args or not _NAME.fullmatch(call.args[0]):
            return None
        return f"{target}{call.args[0]}.{name}({call._replace(args=call.args[1:]).arguments})"

    return spell


def operator(template: str) -> Spelling:
    """Return the spelling ``result = first + second``, for a template such as ``result = {} + {}``."""
    count = template.count("{}")

    def spell(call: Call) -> str | None:
        args = [text.removeprefix("(").removesuffix(",)") for text in call.args]
        if len(args) != count or call.kwargs or not all(map(_NAME.fullmatch, args)):
            return None
        return template.format(*args)

    return spell


def examples(form: Example, qualified: str, spelling: Spelling, fewest: int = 2) -> Iterator[Example]:
    """Yield examples of one spelling of a function, the most readable ones first.

    Args:
        form: an example without operands and statement.
        qualified: the function's name below ``torch``, or the method's name.
        spelling: returns the statement.
        fewest: the smallest number of operands.

    """
    found: dict[str, Example] = {}
    for call in _calls(qualified):
        statement = spelling(call) if len(call.operands) >= fewest else None
        if statement is not None:
            example = form._replace(operands=call.operands, statement=statement)
            found.setdefault(example.program(), example)
    short = sorted((example for text, example in found.items() if len(text) <= _LONGEST), key=_unreadable)
    exact = [example for example in short if _has_values(example)]
    yield from dict.fromkeys([*short[:_MOST_EXAMPLES], *exact[:_MOST_EXACT]])


@cache
def _calls(qualified: str) -> tuple[Call, ...]:
    return tuple(
        call for op in entries(qualified) for sample in samples(op) for call in written(sample, op.name in _EXACT)
    )


def _unreadable(example: Example) -> tuple[bool, bool, bool, int, str]:
    """Return a sort key: no tensors of one element or none, no literal values, no integers, few characters.

    The text comes last: some samples are in the order of a set.
    """
    text = example.program()
    tiny = any(_TINY.search(operand.cpu) for operand in example.operands)
    return tiny, _has_values(example), "randint" in text, len(text), text


def _has_values(example: Example) -> bool:
    return any("torch.tensor(" in operand.cpu for operand in example.operands)


def written(sample: Any, only_exact: bool = False) -> Iterator[Call]:
    """Yield the source of a sample call: with random operands, with exact integers, with its own values.

    A list as the first argument is also passed as single arguments, and as the last argument.
    """
    precisions = (Writer.ALL,) if only_exact else ((), Writer.INTEGERS, Writer.ALL)
    first, rest = sample.input, tuple(sample.args)
    forms: list[tuple[Any, ...]] = [(first, *rest)]
    if type(first) in (list, tuple):
        forms += [(*first, *rest), (*rest, *first)]
    for form in forms:
        for exact in precisions:
            try:
                yield Writer(exact).call(form, sample.kwargs)
            except Unwritable:
                continue


class Writer:
    """Collects the operands of one call while its arguments are written.

    Args:
        exact: the dtypes whose values are repeated; others are random.

    """

    INTEGERS = (torch.int64, torch.int32)
    ALL = (*INTEGERS, torch.float32, torch.float64, torch.complex64, torch.bool, torch.uint8)

    def __init__(self, exact: Sequence[torch.dtype] = ()) -> None:
        self.exact = exact
        self.operands: list[Operand] = []

    def call(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        """Return the call.

        Raises:
            Unwritable: if an argument has no readable source.

        """
        texts = tuple(self.expression(value) for value in args)
        given = {key: value for key, value in kwargs.items() if value is not None and key != "device"}
        named = {key: self.expression(value, key) for key, value in given.items()}
        return Call(tuple(self.operands), texts, named)

    def expression(self, value: Any, name: str = "") -> str:
        """Return the source of one argument; its tensors become operands."""
        if isinstance(value, Tensor):
            self.operands.append(moved(self._free_name(name), self.tensor(value)))
            return self.operands[-1].name
        if type(value) in (list, tuple):
            return sequence([self.expression(item) for item in value], is_list=isinstance(value, list))
        return literal(value)

    def tensor(self, value: Tensor) -> str:
        """Return the source of a tensor."""
        sources = list(tensor_expressions(value))
        if not sources:
            raise Unwritable("an empty tensor without dimensions")
        return sources[-1 if value.dtype in self.exact else 0]

    def _free_name(self, name: str) -> str:
        if name and name not in _RESERVED:
            return name
        if len(self.operands) == len(_ORDINALS):
            raise Unwritable("a long list of tensors")
        return _ORDINALS[len(self.operands)]
