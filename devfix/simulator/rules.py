"""Rules of operators for tensors on different devices.

A :class:`Rule` is created once per ATen overload, from the operator table (:mod:`.operators`) and the schema.  It is
evaluated only if a call mixes devices, except for the operators in :data:`.special.ALWAYS`.

Order of checks on a real device: the generated wrapper (``ExactSame``), then the kernel's own check
(TensorIterator or ``TORCH_CHECK``).  Composite operators have no check and fail in their inner calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor

from . import errors
from .cpu_scalars import CPU_SCALAR_FORBIDDEN, CPU_SCALAR_INPUTS
from .kernels.table import Kernel, kernels
from .state import state
from .tags import CPU, UNASSIGNED, raw_tag
from .work import is_composite

__all__ = [
    "COMPOSITE",
    "Operand",
    "Outputs",
    "Rule",
    "composite_key",
    "device_of_tag",
    "known_rules",
    "operands",
    "rule_for",
]

#: The device of an operator's new outputs: one for all, or one for each.
Outputs = Union[None, torch.device, list[Optional[torch.device]]]

#: Result of a rule for operators without a check: run their composite kernel and check its inner calls.
COMPOSITE: Any = object()


class Operand(NamedTuple):
    """One tensor of a call. ``tag`` is None on the CPU; ``write`` marks outputs and tensors modified in place.

    ``output`` marks ``out=`` arguments.
    """

    name: str
    tensor: Tensor
    tag: torch.device | None
    write: bool
    keyword: bool
    output: bool = False


class Rule:
    """Device behavior of one overload.

    Attributes:
        fresh: it returns tensors with new storages, which must be tagged.
        always: check for every call, or None; raises or returns the outputs' devices.
        mixed: check for calls with tensors on different devices; raises or returns the outputs' devices.
        random: it draws from a generator.
        factory: it creates a tensor without tensor operands.
        device: position of a factory's argument ``device`` if it is not keyword-only, or None.
        composite: it consists of calls of other operators, which are checked instead of it.  It is seen only below
            autograd, such as under ``inference_mode``.

    """

    __slots__ = ("always", "composite", "device", "factory", "fresh", "mixed", "name", "random")

    def __init__(
        self,
        name: str,
        fresh: bool,
        mixed: Callable[[list[Operand]], Outputs],
        always: Callable[[list[Operand]], Outputs] | None,
        random: bool,
        factory: bool,
        device: int | None,
        composite: bool,
    ) -> None:
        self.name = name
        self.fresh = fresh
        self.mixed = mixed
        self.always = always
        self.random = random
        self.factory = factory
        self.device = device
        self.composite = composite


def device_of_tag(tag: torch.device | None) -> torch.device:
    """Return the device of a tag."""
    return CPU if tag is None else tag


def operands(func: Any, args: Any, kwargs: Any) -> list[Operand]:
    """Return the tensors of a call in PyTorch's checking order: outputs first, then as in the schema.

    Lists are flattened and undefined tensors omitted.  ``__torch_function__`` must be disabled.
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
        target = outputs if argument.is_out else inputs
        for tensor in (value,) if isinstance(value, Tensor) else value if isinstance(value, (list, tuple)) else ():
            if isinstance(tensor, Tensor):
                target.append(
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
    """Return the first simulated device; None if there is none."""
    for operand in found:
        if operand.tag is not None and operand.tag is not UNASSIGNED:
            return operand.tag
    return None


def _wrapper(method: str) -> str:
    """Return the wrapper's name for the simulated device type."""
    return method.replace("_CUDA_", f"_{state.kind.upper()}_", 1)


def _exact_same(method: str) -> Callable[[list[Operand]], Outputs]:
    def check(found: list[Operand]) -> Outputs:
        first: Operand | None = None
        for operand in found:
            if operand.keyword or operand.tag is UNASSIGNED:
                continue
            if first is None:
                first = operand
            elif operand.tag is not first.tag:
                raise errors.exact_same(
                    operand.name, device_of_tag(operand.tag), device_of_tag(first.tag), _wrapper(method)
                )
        return common_tag(found)

    return check


def _all_same(found: list[Operand]) -> Outputs:
    """Check kernels that are not in the table (custom operators, and kernels that exist for the CPU only)."""
    common = common_tag(found)
    for operand in found:
        if operand.tag is not common and operand.tag is not UNASSIGNED:
            raise errors.iterator_mismatch(common, device_of_tag(operand.tag))
    return common


def _iterator(scalars: Callable[[str], bool]) -> Callable[[list[Operand]], Outputs]:
    """Return TensorIterator's check (``compute_types`` in aten/src/ATen/TensorIterator.cpp).

    ``scalars(name)``: whether the input ``name`` may be a 0-dim CPU tensor; at most one input may.
    """

    def check(found: list[Operand]) -> Outputs:
        common = common_tag(found)
        exempt = 0
        # Outputs come first; a tensor that is modified in place is an output and an input.
        for operand in sorted(found, key=lambda each: not each.write):
            if operand.tag is common or operand.tag is UNASSIGNED:
                continue
            if operand.tag is None and not operand.write and operand.tensor.dim() == 0 and scalars(operand.name):
                exempt += 1
                if exempt > 1:
                    raise errors.too_many_cpu_scalars()
                continue
            raise errors.iterator_mismatch(common, device_of_tag(operand.tag))
        return common

    return check


def _composite(found: list[Operand]) -> Outputs:
    return COMPOSITE  # type: ignore[no-any-return]  # a sentinel, compared by identity


def _foreach(check: Callable[[list[Operand]], Outputs]) -> Callable[[list[Operand]], Outputs]:
    """Return the check of ``_foreach_*``: on mixed devices, the slow path runs one operator per index."""

    def check_all(found: list[Operand]) -> Outputs:
        lists: dict[str, list[Operand]] = {}
        for operand in found:
            lists.setdefault(operand.name, []).append(operand)
        columns = list(lists.values())
        length = max(len(column) for column in columns)
        tags: list[torch.device | None] = []
        for index in range(length):
            row = [column[index] if len(column) == length else column[0] for column in columns]
            tags.append(check(row))  # type: ignore[arg-type]  # one tag for one row
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
    """Return a predicate: whether an input of a TensorIterator kernel may be a CPU scalar."""
    allowed = CPU_SCALAR_INPUTS.get(base)
    if allowed is not None:
        return allowed.__contains__
    return lambda _: base not in CPU_SCALAR_FORBIDDEN


def composite_key(name: str) -> Any:
    """Return the dispatch key of an operator's composite kernel; None if it has none."""
    # An implicit composite reaches this point only if another composite calls it, below autograd.
    for key in ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd"):
        try:
            if torch._C._dispatch_has_kernel_for_dispatch_key(name, key):
                return getattr(torch._C.DispatchKey, key)
        except RuntimeError:
            return None
    return None


#: Rules by overload, created on first use.
known_rules: dict[Any, Rule] = {}


def _may_have_new_storage(result: Any) -> bool:
    """Whether an output may have a new storage.  A view's storage already has a tag."""
    alias = result.alias_info
    return "Tensor" in str(result.type) and (alias is None or not alias.is_write)


def _device_position(schema: Any) -> int | None:
    """Return the position of a factory's ``device`` if it is not keyword-only, as of ``nested_tensor``'s operator."""
    names = [argument.name for argument in schema.arguments if not argument.kwarg_only]
    is_factory = {"dtype", "layout", "device"} <= set(names)
    return names.index("device") if is_factory else None


def rule_for(func: Any) -> Rule:
    """Return the rule of an ``OpOverload``, created on first use."""
    rule = known_rules.get(func)
    if rule is None:
        from .special import ALWAYS, MIXED

        name = func.name()
        schema = func._schema
        takes_tensors = any("Tensor" in str(argument.type) for argument in schema.arguments if not argument.is_out)
        rule = known_rules[func] = Rule(
            name=name,
            fresh=any(_may_have_new_storage(result) for result in schema.returns),
            mixed=MIXED.get(name) or _kernel_rule(name, kernels().get(name)),
            always=ALWAYS.get(name),
            random=torch.Tag.nondeterministic_seeded in func.tags,
            factory=not takes_tensors,
            device=_device_position(schema),
            composite=is_composite(func),
        )
    return rule
