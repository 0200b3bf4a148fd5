"""The parameters that a script trains: which have a gradient, how far they go, and those that are to stay behind."""

from __future__ import annotations

import base64
import gc
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from .parameters import digest, unwatched

__all__ = ["Trained"]

_STEPS_WATCHED = 3  # looking for trained parameters means looking at every object
_MOST_NUMBERS = 1024  # of each parameter, evenly spaced: enough for the direction of an update


class Trained:
    """Parameters, from the first optimizer step that sees them to the end.

    Args:
        still: parameters, by the keys that ``forgotten_keys`` of another run's report gives them, that no step is to
            change: the script then trains as that other one does, if nothing but their training differs.

    """

    def __init__(self, still: Sequence[str] = ()) -> None:
        self._looks = 0
        self._with_gradient: dict[int, Any] = {}
        self._keys: dict[int, str] = {}
        self._held: dict[int, Any] = {}
        self._started: dict[int, tuple[str, Any]] = {}
        self._wanted = list(still)
        self._still: dict[int, Any] = {}
        self._before: list[tuple[Any, Any]] = []
        if still:
            self._keep_gradients()

    def before_step(self, optimizer: Any) -> None:
        """Before a step of the optimizer."""
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        with unwatched():
            for each in parameters:
                if id(each) not in self._held:
                    self._held[id(each)] = each
                    self._started[id(each)] = (digest([each]), _sample(each))
        if self._looks < _STEPS_WATCHED:
            self._look()
            self._looks += 1
        with unwatched():
            self._before = [(each, each.detach().clone()) for each in parameters if id(each) in self._still]

    def after_step(self) -> None:
        """After that step."""
        with unwatched():
            for parameter, value in self._before:
                parameter.copy_(value)

    def _look(self) -> None:
        """Parameters that have a gradient now, whether or not an optimizer holds them."""
        from torch.nn import Parameter

        gc.collect()  # what is left of an earlier model would be seen or not, as it happens
        for found in gc.get_objects():
            if type(found) is Parameter and found.grad is not None and id(found) not in self._with_gradient:
                self._with_gradient[id(found)] = found
                if self._wanted or id(found) not in self._held:
                    self._keys[id(found)] = key = digest([found, found.grad])[:20]
                    if key in self._wanted:
                        self._wanted.remove(key)
                        self._still[id(found)] = found

    def _keep_gradients(self) -> None:
        """An optimizer that does not hold a parameter does not clear its gradient."""
        import torch

        library: Any = torch.optim.Optimizer
        real = library.zero_grad

        def zero_grad(this: Any, *args: Any, **kwargs: Any) -> None:
            with torch.no_grad():
                kept = [(each, each.grad.clone()) for each in self._still.values() if each.grad is not None]
            real(this, *args, **kwargs)
            for each, gradient in kept:
                each.grad = gradient

        library.zero_grad = zero_grad

    def results(self, held: Iterable[Any]) -> dict[str, Any]:
        """What became of them, as JSON values.

        Args:
            held: what the optimizers hold at the end.

        """
        known = {id(each): each for each in held}
        forgotten = [key for key in self._with_gradient if key not in known]
        moved = [key for key in self._with_gradient if key in known and key not in self._still]
        changed = [key for key, (start, _) in self._started.items() if key in known and digest([known[key]]) != start]
        return {
            "forgotten": [list(self._with_gradient[key].shape) for key in forgotten],
            "forgotten_keys": [self._keys.get(key, "") for key in forgotten],
            "gradients": sorted(list(each.shape) for each in self._with_gradient.values()),
            "changed": len(changed) if self._started else None,
            "trained_digest": _digest_in_any_order(known[key] for key in moved),
            "still": len(self._still),
            "update": self._update(known),
        }

    def _update(self, known: dict[int, Any]) -> str:
        """The way from start to end of what is held, in order: float32, base64."""
        numbers = []
        with unwatched():
            for key, each in known.items():
                start, end = self._started.get(key, ("", None))[1], _sample(each)
                if start is not None and end is not None and start.shape == end.shape:
                    numbers.append(bytes((end - start).float().numpy()))
        return base64.b64encode(b"".join(numbers)).decode()


def _digest_in_any_order(tensors: Iterable[Any]) -> str:
    return hashlib.sha256(" ".join(sorted(digest([each]) for each in tensors)).encode()).hexdigest()


def _sample(parameter: Any) -> Any:
    """Some of its numbers, in float64 on the host; None where it has none to compute with."""
    if not parameter.is_floating_point() or not parameter.numel():
        return None
    flat = parameter.detach().reshape(-1)
    return flat[:: -(-flat.numel() // _MOST_NUMBERS)].cpu().double().clone()
