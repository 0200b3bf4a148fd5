"""The checks: every ATen call passes here, below autograd, and fresh results are tagged with their device.

Stays as small as it can be on the way of an ordinary call: gather tags, run the kernel, tag the result.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.utils._python_dispatch import TorchDispatchMode

from .rules import COMPOSITE, Operand, Outputs, Rule, composite_key, operands, rule_for
from .state import Ambient, state
from .streams import draw_from
from .tags import WEAK, raw_put_tag, raw_tag, tag_of_all

__all__ = ["DeviceChecks"]

_NoTorchFunction = torch._C.DisableTorchFunction
_UNSEEN: Any = object()
_SIMULATED_NAMESPACES = ("aten", "prims")


def _ambient() -> torch.device | None:
    """The device of a tensor that C++ code makes from nothing."""
    call = state.call
    if call is None:
        return WEAK
    if not call.explicit:
        call.device = tag_of_all(call.args, call.kwargs)
        call.explicit = True
    return call.device


def _is_work(args: Any, result: Any) -> bool:
    """Whether a call does more than count: one that reads a number, and gives none with dimensions, does not."""
    first = args[0] if args else None
    return not isinstance(first, Tensor) or first.dim() > 0 or (isinstance(result, Tensor) and result.dim() > 0)


def _is_training(args: Any) -> bool:
    """Whether a call takes part in training: it is a step of the backward pass, or it reads or writes a parameter.

    Of what is only looked at (metrics, a batch that is put together) nothing goes backward.
    """
    if torch._C._current_graph_task_id() != -1:
        return True
    for value in args:
        first = value[0] if value.__class__ in (list, tuple) and value else value
        if isinstance(first, Tensor) and (isinstance(first, Parameter) or (first.requires_grad and first.is_leaf)):
            return True
    return False


def _count(args: Any, result: Any, there: bool) -> None:
    """Note a call as work, on a simulated device or not."""
    if not _is_work(args, result):
        return
    state.all_operations += 1
    state.device_operations += there
    if _is_training(args):
        state.all_training += 1
        state.device_training += there


def _tag_fresh(result: Any, tags: Outputs) -> None:
    """Tag results in new memory; memory that has a tag keeps it."""
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


def _settle(found: list[Operand], tag: torch.device | None) -> None:
    """Tensors of no known device take that of the first call they are used in."""
    for operand in found:
        if operand.tag is WEAK:
            raw_put_tag(operand.tensor, tag)


def _send_gradient_home(operand: Operand) -> None:
    """A legal mix crosses devices in the backward pass too: the engine moves the gradient to its variable.

    Source: ``validate_outputs`` in torch/csrc/autograd/engine.cpp, and the backward of ``copy_``.
    """
    from .transfers import move

    if operand.tensor.requires_grad and not operand.write:
        home = operand.tag
        operand.tensor.register_hook(lambda gradient: move(gradient, home))  # type: ignore[no-untyped-call]  # torch gives it no types


class DeviceChecks(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch gives it no types
    """Checks and propagates device tags for every ATen call."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise the first call would import torch._dynamo (seconds), which nothing here needs.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        rule = rule_for(func)
        with _NoTorchFunction():
            first = _UNSEEN
            mixed = False
            try:
                for value in args:
                    if isinstance(value, Tensor):
                        tag = value.untyped_storage()._simulated_device  # type: ignore[attr-defined]  # our attribute
                        if first is _UNSEEN:
                            first = tag
                        elif tag is not first:
                            mixed = True
                    elif value.__class__ is list or value.__class__ is tuple:
                        for item in value:
                            if isinstance(item, Tensor):
                                tag = item.untyped_storage()._simulated_device  # type: ignore[attr-defined]  # our attribute
                                if first is _UNSEEN:
                                    first = tag
                                elif tag is not first:
                                    mixed = True
                if kwargs:
                    for value in kwargs.values():
                        if isinstance(value, Tensor):
                            tag = value.untyped_storage()._simulated_device  # type: ignore[attr-defined]  # our attribute
                            if first is _UNSEEN:
                                first = tag
                            elif tag is not first:
                                mixed = True
            except (NotImplementedError, RuntimeError):
                first, mixed = self._slow_gather(args, kwargs)
            if mixed or rule.always is not None:
                return self._checked(rule, func, args, kwargs or {})
            device = first if first is not _UNSEEN else (_ambient() if rule.factory else None)
            if device is None:
                result = func(*args, **kwargs) if kwargs else func(*args)
                _count(args, result, False)
                return result
            if device is not WEAK:
                state.last_device = device
            result = self._run(rule, device, func, args, kwargs)
            _count(args, result, True)
            if rule.fresh:
                _tag_fresh(result, device)
            return result

    def _run(self, rule: Rule, device: torch.device, func: Any, args: Any, kwargs: Any) -> Any:
        if rule.random and not state.shared_random and device is not WEAK:
            with draw_from(device, kwargs):
                return func(*args, **(kwargs or {}))
        return func(*args, **kwargs) if kwargs else func(*args)

    def _slow_gather(self, args: Any, kwargs: Any) -> tuple[Any, bool]:
        """For tensors without storage of their own."""
        from .tags import iter_tensors

        tags = [raw_tag(tensor) for tensor in (*iter_tensors(args), *iter_tensors((kwargs or {}).values()))]
        if not tags:
            return _UNSEEN, False
        return tags[0], any(tag is not tags[0] for tag in tags)

    def _checked(self, rule: Rule, func: Any, args: Any, kwargs: Any) -> Any:
        """A call that mixes devices, or one with a rule for every call."""
        found = operands(func, args, kwargs)
        known = {operand.tag for operand in found if operand.tag is not WEAK}
        tags: Outputs
        if len(known) == 1 and rule.always is None:
            tags = next(iter(known))
        elif not state.checks:
            tags = next((tag for tag in known if tag is not None), None)
        else:
            tags = (rule.always or rule.mixed)(found)
            if tags is COMPOSITE:
                return self._composite(rule, func, args, kwargs, found)
        return self._legal_mix(rule, func, args, kwargs, found, tags)

    def _composite(self, rule: Rule, func: Any, args: Any, kwargs: Any, found: list[Operand]) -> Any:
        """Run the calls inside; what they make is made from the options of the first input."""
        before = state.call
        first = next((operand for operand in found if not operand.output), found[0])
        state.call = Ambient(device=first.tag, explicit=True)
        try:
            with self:
                return func._op_dk(composite_key(rule.name), *args, **kwargs)
        finally:
            state.call = before

    def _legal_mix(self, rule: Rule, func: Any, args: Any, kwargs: Any, found: list[Operand], tags: Outputs) -> Any:
        """A call whose devices have passed; its results get ``tags``."""
        known = {operand.tag for operand in found if operand.tag is not WEAK}
        main = tags[0] if isinstance(tags, list) and tags else tags
        if not isinstance(main, list):
            _settle(found, main)
            for operand in found:
                if operand.tag is not main and operand.tag is not WEAK:
                    _send_gradient_home(operand)
        device = main if isinstance(main, torch.device) else None
        result = self._run(rule, device, func, args, kwargs) if device is not None else func(*args, **kwargs)
        _count(args, result, any(tag is not None for tag in known))
        if rule.fresh and tags is not None:
            _tag_fresh(result, tags)
        return result
