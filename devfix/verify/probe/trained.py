"""Trained parameters: those with a gradient, their total update, and those to freeze."""

from __future__ import annotations

import base64
import gc
import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

from .parameters import digest, untracked
from .plain import memory, plain_tensors

__all__ = ["TrainedParameters"]

_STEPS_SEARCHED = 3  # searching for parameters visits every live object
_MAX_SAMPLES = 1024  # of each parameter, evenly spaced: enough for the direction of an update


class TrainedParameters:
    """Parameters with a gradient, from their first optimizer step to the end of the run.

    Args:
        frozen_keys: parameters to freeze, by their ``forgotten_keys`` in another run's report.  The script then
            trains as that run did if their training is the only difference.

    """

    def __init__(self, frozen_keys: Sequence[str] = ()) -> None:
        self._searches = 0
        self._with_gradient: dict[int, Any] = {}
        self._keys: dict[int, str] = {}
        self._optimized: dict[int, Any] = {}
        self._initial: dict[int, tuple[str, Any]] = {}
        self._keys_to_freeze = list(frozen_keys)
        self._frozen: dict[int, Any] = {}
        self._before: list[tuple[Any, Any]] = []
        if frozen_keys:
            self._preserve_gradients()

    def before_step(self, optimizer: Any) -> None:
        """Record the parameters' values; call this before an optimizer step."""
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        with untracked():
            for each in parameters:
                if id(each) not in self._optimized:
                    self._optimized[id(each)] = each
                    self._initial[id(each)] = (digest([each]), _sample(each))
        if self._searches < _STEPS_SEARCHED:
            self._find_parameters()
            self._searches += 1
        with untracked():
            self._before = [(each, each.detach().clone()) for each in parameters if id(each) in self._frozen]

    def after_step(self) -> None:
        """Restore the values of frozen parameters; call this after the step."""
        with untracked():
            for parameter, value in self._before:
                parameter.copy_(value)

    def _find_parameters(self) -> None:
        """Record all parameters with a gradient, whether or not they are in an optimizer."""
        gc.collect()  # parameters of a deleted model would be found nondeterministically
        for found in gc.get_objects():
            if _is_parameter(found) and found.grad is not None and id(found) not in self._with_gradient:
                self._with_gradient[id(found)] = found
                if self._keys_to_freeze or id(found) not in self._optimized:
                    self._keys[id(found)] = key = digest([found, found.grad])[:20]
                    if key in self._keys_to_freeze:
                        self._keys_to_freeze.remove(key)
                        self._frozen[id(found)] = found

    def _preserve_gradients(self) -> None:
        """Preserve gradients of frozen parameters in ``zero_grad``: in the original they are in no optimizer."""
        import torch

        library: Any = torch.optim.Optimizer
        real = library.zero_grad

        def zero_grad(this: Any, *args: Any, **kwargs: Any) -> None:
            with torch.no_grad():
                preserved = [(each, each.grad.clone()) for each in self._frozen.values() if each.grad is not None]
            real(this, *args, **kwargs)
            for each, gradient in preserved:
                each.grad = gradient

        library.zero_grad = zero_grad

    def results(self, optimized: Iterable[Any]) -> dict[str, Any]:
        """Return the results as JSON values.

        Args:
            optimized: the optimizers' parameters at the end.

        """
        known = {id(each): each for each in optimized}
        forgotten = sorted((key for key in self._with_gradient if key not in known), key=self._by_size)
        trained = [key for key in self._with_gradient if key in known and key not in self._frozen]
        changed = [key for key, (start, _) in self._initial.items() if key in known and digest([known[key]]) != start]
        return {
            "forgotten": [list(self._with_gradient[key].shape) for key in forgotten],
            "forgotten_keys": [self._keys.get(key, "") for key in forgotten],
            "gradients": sorted(list(each.shape) for each in self._with_gradient.values()),
            "changed": len(changed) if self._initial else None,
            "trained_digest": _digest_in_any_order(known[key] for key in trained),
            "frozen": len(self._frozen),
            "update": self._update(known),
        }

    def _by_size(self, key: int) -> tuple[int, list[int], str]:
        """Return a sort key, because the garbage collector lists parameters in no particular order."""
        shape = list(self._with_gradient[key].shape)
        return -math.prod(shape), shape, self._keys.get(key, "")

    def _update(self, known: dict[int, Any]) -> str:
        """Return the sampled total updates of the optimized parameters, in order: float32, base64."""
        numbers = []
        with untracked():
            for key, each in known.items():
                start, end = self._initial.get(key, ("", None))[1], _sample(each)
                if start is not None and end is not None and start.shape == end.shape:
                    numbers.append(memory((end - start).float().contiguous()))
        return base64.b64encode(b"".join(numbers)).decode()


def _is_parameter(found: Any) -> bool:
    """Whether an object is a parameter, by its type only, because ``isinstance`` may call user code."""
    from torch import Tensor
    from torch.nn import Parameter

    kind = type(found)
    return kind is Parameter or (Tensor in kind.__mro__ and getattr(found, "_is_param", False) is True)


def _digest_in_any_order(tensors: Iterable[Any]) -> str:
    return hashlib.sha256(" ".join(sorted(digest([each]) for each in tensors)).encode()).hexdigest()


def _sample(parameter: Any) -> Any:
    """Return evenly spaced elements in float64 on the CPU; None if the tensor is empty or not floating-point."""
    parameter = next(plain_tensors(parameter), None)
    if parameter is None or not parameter.is_floating_point() or not parameter.numel():
        return None
    flat = parameter.detach().reshape(-1)
    return flat[:: -(-flat.numel() // _MAX_SAMPLES)].cpu().double().clone()
