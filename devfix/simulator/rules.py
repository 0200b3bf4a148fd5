"""What each operator says when its tensors are not on one device.

A :class:`Rule` is made once per ATen overload, from the operator table (:mod:`.operators`) and the schema.  Rules are
only asked when a call really mixes devices, except for the few in :data:`ALWAYS`.

Order of checks on a real device: the generated wrapper (``ExactSame``), then the kernel's own check
(TensorIterator or ``TORCH_CHECK``); composite operators have none and fail in their inner calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor

from . import errors
from .cpu_scalars import CPU_SCALAR_FORBIDDEN, CPU_SCALAR_INPUTS
from .operators import Kernel, kernels
from .state import state
from .tags import CPU, WEAK, raw_tag

__all__ = ["COMPOSITE", "Operand", "Outputs", "Rule", "composite_key", "operands", "rule_for", "shown"]

#: The device of an operator's fresh outputs: one for all, or one for each.
Outputs = Union[None, torch.device, list[Optional[torch.device]]]

#: Answer of a rule for operators that have no check: run their kernel and check the calls inside.
COMPOSITE: Any = object()


class Operand(NamedTuple):
    """One tensor of a call. ``tag`` is None on the CPU; ``write`` marks outputs and tensors changed in place.

    ``output`` marks those given as ``out=``.
    """

    name: str
    tensor: Tensor
    tag: torch.device | None
    write: bool
    keyword: bool
    output: bool = False


class Rule:
    """What is known about one overload.

    Attributes:
        fresh: it returns tensors in new memory, which have to be tagged.
        always: called for every call, mixed or not; may raise and may name the outputs' devices.
        mixed: called when the tensors are on different devices; raises, or names the outputs' devices.
        random: it draws from a generator.
        factory: it takes no tensors and makes one.

    """

    __slots__ = ("always", "factory", "fresh", "mixed", "name", "random")

    def __init__(
        self,
        name: str,
        fresh: bool,
        mixed: Callable[[list[Operand]], Outputs],
        always: Callable[[list[Operand]], Outputs] | None,
        random: bool,
        factory: bool,
    ) -> None:
        self.name = name
        self.fresh = fresh
        self.mixed = mixed
        self.always = always
        self.random = random
        self.factory = factory


def shown(tag: torch.device | None) -> torch.device:
    """The device that a message names."""
    return CPU if tag is None else tag


def operands(func: Any, args: Any, kwargs: Any) -> list[Operand]:
    """The tensors of a call in the order in which PyTorch checks them: outputs first, then as in the schema.

    Lists are taken apart, undefined tensors left out.  ``__torch_function__`` must be off.
    """
    outputs: list[Operand] = []
    inputs: list[Operand] = []
    for position, argument in enumerate(func._schema.arguments):
        if position < len(args):
            value = args[position]
        elif kwargs and argument.name in kwargs:
            value = kwargs[argument.name]
        else:
            continue
        write = argument.alias_info is not None and argument.alias_info.is_write
        into = outputs if argument.is_out else inputs
        for tensor in (value,) if isinstance(value, Tensor) else value if isinstance(value, (list, tuple)) else ():
            if isinstance(tensor, Tensor):
                into.append(
                    Operand(
                        argument.name,
                        tensor,
                        raw_tag(tensor),
                        write,
                        argument.kwarg_only and not argument.is_out,
                        argument.is_out,
                    )
                )
    return outputs + inputs


def common_tag(found: list[Operand]) -> torch.device | None:
    """The first simulated device."""
    for operand in found:
        if operand.tag is not None and operand.tag is not WEAK:
            return operand.tag
    return None


def _wrapper(method: str) -> str:
    """The wrapper's name for the simulated kind of device."""
    return method.replace("_CUDA_", f"_{state.kind.upper()}_", 1)


def _exact_same(method: str) -> Callable[[list[Operand]], Outputs]:
    def check(found: list[Operand]) -> Outputs:
        first: Operand | None = None
        for operand in found:
            if operand.keyword or operand.tag is WEAK:
                continue
            if first is None:
                first = operand
            elif operand.tag is not first.tag:
                raise errors.exact_same(operand.name, shown(operand.tag), shown(first.tag), _wrapper(method))
        return common_tag(found)

    return check


def _all_same(found: list[Operand]) -> Outputs:
    """For kernels that are not in the table (custom operators, kernels that only exist for the CPU)."""
    common = common_tag(found)
    for operand in found:
        if operand.tag is not common and operand.tag is not WEAK:
            raise errors.iterator_mismatch(common, shown(operand.tag))
    return common


def _iterator(scalars: Callable[[str], bool]) -> Callable[[list[Operand]], Outputs]:
    """TensorIterator's check (``compute_types`` in aten/src/ATen/TensorIterator.cpp).

    ``scalars(name)`` says whether the input of that name may be a CPU tensor of dimension 0; at most one may.
    """

    def check(found: list[Operand]) -> Outputs:
        common = common_tag(found)
        exempt = 0
        # Outputs come first, and a tensor that is changed in place is an output and an input.
        for operand in sorted(found, key=lambda each: not each.write):
            if operand.tag is common or operand.tag is WEAK:
                continue
            if operand.tag is None and not operand.write and operand.tensor.dim() == 0 and scalars(operand.name):
                exempt += 1
                if exempt > 1:
                    raise errors.too_many_cpu_scalars()
                continue
            raise errors.iterator_mismatch(common, shown(operand.tag))
        return common

    return check


def _composite(found: list[Operand]) -> Outputs:
    return COMPOSITE  # type: ignore[no-any-return]  # a mark, told by identity


def _foreach(check: Callable[[list[Operand]], Outputs]) -> Callable[[list[Operand]], Outputs]:
    """``_foreach_*``: on mixed devices the slow path runs one operator per index."""

    def check_all(found: list[Operand]) -> Outputs:
        lists: dict[str, list[Operand]] = {}
        for operand in found:
            lists.setdefault(operand.name, []).append(operand)
        columns = list(lists.values())
        length = max(len(column) for column in columns)
        tags: list[torch.device | None] = []
        for index in range(length):
            row = [column[index] if len(column) == length else column[0] for column in columns]
            tags.append(check(row))  # type: ignore[arg-type]  # of one row: one tag
        return tags

    return check_all


def _kernel_rule(name: str, kernel: Kernel | None) -> Callable[[list[Operand]], Outputs]:
    if kernel is None or not kernel.cuda:
        return _all_same if composite_key(name) is None else _composite
    if kernel.exact_same:
        return _exact_same(kernel.method)
    base = name.split("::")[1].split(".")[0].rstrip("_")
    if base.startswith("_foreach_"):
        return _foreach(_iterator(_scalar_inputs(base[len("_foreach_") :])))
    if kernel.iterator or base.startswith("special_"):
        return _iterator(_scalar_inputs(base))
    return _all_same


def _scalar_inputs(base: str) -> Callable[[str], bool]:
    """Which inputs of a TensorIterator kernel may be a CPU scalar."""
    allowed = CPU_SCALAR_INPUTS.get(base)
    if allowed is not None:
        return allowed.__contains__
    return lambda _: base not in CPU_SCALAR_FORBIDDEN


def composite_key(name: str) -> Any:
    """The dispatch key under which an operator has a kernel made of other operators; None if it has none."""
    # An implicit composite is seen here only when another composite calls it, below autograd.
    for key in ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd"):
        try:
            if torch._C._dispatch_has_kernel_for_dispatch_key(name, key):
                return getattr(torch._C.DispatchKey, key)
        except RuntimeError:
            return None
    return None


_rules: dict[Any, Rule] = {}


def _in_new_memory(result: Any) -> bool:
    """Whether an output can be a tensor of its own: also of ``reshape``, which is a view only where that is possible.

    A view's memory has its tag already, and keeps it.  Under ``inference_mode`` such operators come whole.
    """
    alias = result.alias_info
    return "Tensor" in str(result.type) and (alias is None or not alias.is_write)


def rule_for(func: Any) -> Rule:
    """The rule of an ``OpOverload``; made on first use."""
    rule = _rules.get(func)
    if rule is None:
        from .special import ALWAYS, MIXED

        name = func.name()
        schema = func._schema
        takes_tensors = any("Tensor" in str(argument.type) for argument in schema.arguments if not argument.is_out)
        rule = _rules[func] = Rule(
            name=name,
            fresh=any(_in_new_memory(result) for result in schema.returns),
            mixed=MIXED.get(name) or _kernel_rule(name, kernels().get(name)),
            always=ALWAYS.get(name),
            random=torch.Tag.nondeterministic_seeded in func.tags,
            factory=not takes_tensors,
        )
    return rule
