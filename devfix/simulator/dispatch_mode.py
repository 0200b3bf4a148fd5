"""Dispatch mode that checks the devices of every ATen call, below autograd, and tags results with their device.

The path of an ordinary call is kept short: read the operands' tags, run the kernel, tag the result.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.utils._python_dispatch import TorchDispatchMode

from .cuda_api.streams import draw_from
from .forks import check_use
from .higher_order import run_higher_order
from .kernels.missing import note_missing_kernel
from .kernels.missing_on_mps import check_mps
from .rules import COMPOSITE, Operand, Outputs, Rule, composite_key, known_rules, operands, rule_for
from .state import CallContext, state
from .subclasses import watch_handlers
from .symbolic import note_device
from .tags import (
    CPU,
    UNASSIGNED,
    canonical,
    check_dtype,
    is_sent_to_cpu,
    iter_tensors,
    put_tag,
    raw_put_tag,
    raw_tag,
    tag_of_all,
)

__all__ = ["DeviceCheckMode"]

_NoTorchFunction = torch._C.DisableTorchFunction
_NO_TENSOR: Any = object()
_SIMULATED_NAMESPACES = ("aten", "prims")

#: ``OpOverload.decompose`` would prefer the decompositions in Python, which round differently.
_COMPOSITE_KEY = torch._C.DispatchKey.CompositeImplicitAutograd


def _context_device() -> torch.device | None:
    """Return the device of a tensor that C++ code creates without operands."""
    call = state.local.call
    if call is None:
        return UNASSIGNED
    if not call.explicit:
        call.device = tag_of_all(call.args, call.kwargs)
        call.explicit = True
    return call.device


def _tag_fresh(result: Any, tags: Outputs) -> None:
    """Tag results with new storages; a storage keeps its existing tag."""
    if isinstance(result, Tensor):
        tag = tags[0] if isinstance(tags, list) else tags
        if tag is not None:
            try:
                storage = result.untyped_storage()
                if storage._simulated_device is None:  # type: ignore[attr-defined]  # our attribute
                    storage._simulated_device = tag  # type: ignore[attr-defined]  # our attribute
            except (NotImplementedError, RuntimeError):
                raw_put_tag(result, tag)
    elif isinstance(result, (list, tuple)):
        for position, item in enumerate(result):
            if item is not None:
                _tag_fresh(item, tags[position] if isinstance(tags, list) and position < len(tags) else tags)


def _is_mostly_on_device(found: list[Operand]) -> bool:
    """Whether most elements of the operands are on accelerators, so that the CPU is not meant."""
    return sum(each.tensor.numel() * (1 if each.tag is not None else -1) for each in found) > 0


def _assign_device(found: list[Operand], tag: torch.device | None) -> None:
    """Assign the device of the call to tensors without a known device."""
    for operand in found:
        if operand.tag is UNASSIGNED:
            raw_put_tag(operand.tensor, tag)


def _move_gradient_back(operand: Operand) -> None:
    """Move the gradient of an operand on another device to that device in the backward pass, as the engine does.

    Source: ``validate_outputs`` in torch/csrc/autograd/engine.cpp, and the backward of ``copy_``.
    """
    from .transfers import move

    if operand.tensor.requires_grad and not operand.write:
        device = operand.tag
        operand.tensor.register_hook(lambda gradient: move(gradient, device))  # type: ignore[no-untyped-call]  # untyped in torch


def _by_name(func: Any, values: Any, start: int, kwargs: Any) -> dict[str, Any]:
    """Return keyword arguments with the positional ``values`` of the arguments from ``start`` on."""
    names = (argument.name for argument in func._schema.arguments[start:])
    return {**dict(zip(names, values)), **(kwargs or {})}


def _is_transfer(device: Any) -> bool:
    """Whether ``device=`` of an ATen call names a simulated device, or the CPU while a tensor subclass is moved."""
    return device is not None and (device.type == state.kind or (state.copying and device.type == "cpu"))


class DeviceCheckMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # untyped in torch
    """Mode that checks and propagates device tags for every ATen call."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise the first call would import torch._dynamo, which takes seconds.
        return False

    #: https://github.com/pytorch/pytorch/blob/main/torch/_ops.py calls the mode for ``cond``, ``flex_attention`` etc.
    supports_higher_order_operators = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if types and watch_handlers(types):
            return NotImplemented  # the subclass's handler comes first, then its inner calls come here
        rule = known_rules.get(func)
        if rule is None:
            if not isinstance(func, torch._ops.OpOverload):
                return run_higher_order(self, func, args, kwargs or {})
            rule = rule_for(func)
        if rule.device is not None and len(args) > rule.device:
            args, kwargs = args[: rule.device], _by_name(func, args[rule.device :], rule.device, kwargs)
        if kwargs and "device" in kwargs and _is_transfer(kwargs["device"]):
            return self._placed(rule, func, args, kwargs)
        if rule.composite and not any(tensor.is_nested for tensor in iter_tensors(args)):
            with _NoTorchFunction(), self:
                return func._op_dk(_COMPOSITE_KEY, *args, **(kwargs or {}))
        with _NoTorchFunction():
            first = _NO_TENSOR
            mixed = False
            try:
                for value in args:
                    if isinstance(value, Tensor):
                        tag = value.untyped_storage()._simulated_device  # type: ignore[attr-defined]  # our attribute
                        if first is _NO_TENSOR:
                            first = tag
                        elif tag is not first:
                            mixed = True
                    elif value.__class__ is list or value.__class__ is tuple:
                        for item in value:
                            if isinstance(item, Tensor):
                                tag = item.untyped_storage()._simulated_device  # type: ignore[attr-defined]  # our attribute
                                if first is _NO_TENSOR:
                                    first = tag
                                elif tag is not first:
                                    mixed = True
                if kwargs:
                    for value in kwargs.values():
                        if isinstance(value, Tensor):
                            tag = value.untyped_storage()._simulated_device  # type: ignore[attr-defined]  # our attribute
                            if first is _NO_TENSOR:
                                first = tag
                            elif tag is not first:
                                mixed = True
            except (NotImplementedError, RuntimeError):
                first, mixed = self._slow_gather(args, kwargs)
            if mixed or rule.always is not None:
                return self._checked(rule, func, args, kwargs or {})
            device = first if first is not _NO_TENSOR else (_context_device() if rule.factory else None)
            if device is None:
                result = func(*args, **kwargs) if kwargs else func(*args)
                state.work.add(func, args, result, False)
                return result
            if device is not UNASSIGNED:
                state.local.last_device = device
            result = self._run(rule, device, func, args, kwargs)
            state.work.add(func, args, result, True)
            if rule.fresh:
                if rule.factory and device is not UNASSIGNED:
                    note_device(result, device)
                if result.__class__ is Tensor and result.dtype is torch.float64:
                    check_dtype(result, device)
                _tag_fresh(result, device)
            return result

    def _placed(self, rule: Rule, func: Any, args: Any, kwargs: Any) -> Any:
        """Run a factory or a copy with ``device=`` that the function mode did not see, and tag its result."""
        tag = canonical(kwargs["device"])
        kwargs = {**kwargs, "device": CPU}
        result = self._run(rule, tag, func, args, kwargs) if tag is not None else func(*args, **kwargs)
        state.work.add(func, args, result, tag is not None)
        for tensor in iter_tensors((result,)):
            put_tag(tensor, tag)
            note_device(tensor, tag)
        return result

    def _run(self, rule: Rule, device: torch.device, func: Any, args: Any, kwargs: Any) -> Any:
        if state.is_child or state.worker_thread is not None:
            check_use()
        if device.type == "mps" and state.checks:
            check_mps(rule.name)
        try:
            if rule.random and not state.shared_random and device is not UNASSIGNED:
                with draw_from(device, kwargs):
                    return func(*args, **(kwargs or {}))
            return func(*args, **kwargs) if kwargs else func(*args)
        except RuntimeError as error:
            note_missing_kernel(func, args, kwargs, error)
            raise

    def _slow_gather(self, args: Any, kwargs: Any) -> tuple[Any, bool]:
        """Return first tag and whether tags differ, for tensors without a storage."""
        tags = [raw_tag(tensor) for tensor in (*iter_tensors(args), *iter_tensors((kwargs or {}).values()))]
        if not tags:
            return _NO_TENSOR, False
        return tags[0], any(tag is not tags[0] for tag in tags)

    def _checked(self, rule: Rule, func: Any, args: Any, kwargs: Any) -> Any:
        """Check a call that mixes devices, or whose rule applies to every call."""
        found = operands(func, args, kwargs)
        known = {operand.tag for operand in found if operand.tag is not UNASSIGNED}
        tags: Outputs
        if len(known) == 1 and rule.always is None:
            tags = next(iter(known))
        elif not state.checks and rule.always is None:
            tags = next((tag for tag in known if tag is not None), None)
        else:
            tags = (rule.always or rule.mixed)(found)
            if tags is COMPOSITE:
                return self._composite(rule, func, args, kwargs, found)
        return self._run_mixed(rule, func, args, kwargs, found, tags)

    def _composite(self, rule: Rule, func: Any, args: Any, kwargs: Any, found: list[Operand]) -> Any:
        """Run a composite operator's inner calls; their factories use the device of the first input."""
        before = state.local.call
        first = next((operand for operand in found if not operand.output), found[0])
        state.local.call = CallContext(device=first.tag, explicit=True)
        try:
            with self:
                return func._op_dk(composite_key(rule.name), *args, **kwargs)
        finally:
            state.local.call = before

    def _run_mixed(self, rule: Rule, func: Any, args: Any, kwargs: Any, found: list[Operand], tags: Outputs) -> Any:
        """Run a call whose devices passed the check, and tag its results with ``tags``."""
        known = {operand.tag for operand in found if operand.tag is not UNASSIGNED}
        main = tags[0] if isinstance(tags, list) and tags else tags
        if not isinstance(main, list):
            _assign_device(found, main)
            for operand in found:
                if operand.tag is not main and operand.tag is not UNASSIGNED:
                    _move_gradient_back(operand)
        device = main if isinstance(main, torch.device) else None
        result = self._run(rule, device, func, args, kwargs) if device is not None else func(*args, **kwargs)
        parameters = tuple(
            operand.tag is not None or not is_sent_to_cpu(operand.tensor)
            for operand in found
            if isinstance(operand.tensor, Parameter)
        )
        sized = [operand for operand in found if operand.tag is not UNASSIGNED and operand.tensor.dim()]
        is_undecided = len({operand.tag for operand in sized}) > 1
        is_mostly_on_device = is_undecided and _is_mostly_on_device(sized)
        is_on_device = any(tag is not None for tag in known)
        state.work.add(func, args, result, is_on_device, parameters, is_undecided, is_mostly_on_device)
        if rule.fresh and tags is not None:
            _tag_fresh(result, tags)
        return result
