"""What a script does, noted from inside its process: losses, optimizer steps, parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .parameters import UpdatesByHand, digest, unwatched
from .recipe import Recipe
from .trained import Trained

if TYPE_CHECKING:
    from .placement import Survey

__all__ = ["EnoughSteps", "Recorder"]

_MAX_LOSSES = 200_000


class EnoughSteps(BaseException):
    """The number of optimizer steps asked for is done."""


class Recorder:
    """Losses, steps and parameters of the script.

    Losses are the roots of backward passes.  A script that has none may train with ``torch.autograd.grad``: then they
    are the roots of that (beside backward passes it computes penalties and inner steps).

    Args:
        max_steps: end the run after this many optimizer steps; None: as many as it wants.
        still: keys of parameters that no step is to change, as for :class:`.trained.Trained`.

    Attributes:
        survey: is told of each step, and may end the run; None if nothing is.

    """

    def __init__(self, max_steps: int | None, still: Sequence[str] = ()) -> None:
        self.max_steps = max_steps
        self.losses: list[float] = []
        self.grad_losses: list[float] = []
        self.optimizer_steps = 0
        self.ended_early = False
        self.optimizers: list[Any] = []
        self.trained = Trained(still)
        self.recipe = Recipe()
        self.by_hand = UpdatesByHand()
        self.survey: Survey | None = None

    @property
    def steps(self) -> int:
        """Optimizer steps; of a script that has none, updates by hand."""
        return self.optimizer_steps or self.by_hand.steps

    def install(self) -> None:
        """Hook backward passes, loss scaling and optimizers."""
        self._hook_backward()
        self._hook_scaler()
        self._hook_optimizers()
        self.recipe.install()

    def _before_backward(self, tensors: Any, gradients: Any, into: list[float]) -> None:
        import torch

        roots = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
        given = gradients if isinstance(gradients, (list, tuple)) else (gradients,) * len(roots)
        if not self.optimizer_steps:
            self.by_hand.look(root for root in roots if isinstance(root, torch.Tensor))
            self._end_if_enough()
        for root, gradient in zip(roots, given):
            value = _value(root, gradient) if isinstance(root, torch.Tensor) else None
            if value is not None and len(into) < _MAX_LOSSES:
                into.append(value)

    def _hook_backward(self) -> None:
        import torch

        real_backward, real_grad = torch.autograd.backward, torch.autograd.grad

        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
            self._before_backward(tensors, grad_tensors, self.losses)
            return real_backward(tensors, grad_tensors, *args, **kwargs)

        def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, *args: Any, **kwargs: Any) -> Any:
            self._before_backward(outputs, grad_outputs, self.grad_losses)
            return real_grad(outputs, inputs, grad_outputs, *args, **kwargs)

        torch.autograd.backward = backward
        torch.autograd.grad = grad

    def _hook_scaler(self) -> None:
        """A scaled loss is recorded as what it was before scaling."""
        import torch

        scaler: Any = torch.amp.GradScaler
        real = scaler.scale

        def scale(this: Any, outputs: Any) -> Any:
            scaled = real(this, outputs)
            if isinstance(outputs, torch.Tensor) and outputs.numel() == 1 and scaled is not outputs:
                scaled._devfix_unscaled = float(outputs.detach().reshape(()))
            return scaled

        scaler.scale = scale

    def _hook_optimizers(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        def before_step(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.recipe.note_optimizer(optimizer)
            self.trained.before_step(optimizer)

        def after_step(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.trained.after_step()
            if all(optimizer is not known for known in self.optimizers):
                self.optimizers.append(optimizer)
            self.optimizer_steps += 1
            self._end_if_enough()

        register_optimizer_step_pre_hook(before_step)
        register_optimizer_step_post_hook(after_step)

    def _end_if_enough(self) -> None:
        enough = self.max_steps is not None and self.steps >= self.max_steps
        if self.survey is not None and self.steps:
            enough = self.survey.after_step(self.optimizers, self.steps, enough) or enough
        if enough:
            self.ended_early = True
            raise EnoughSteps

    def results(self) -> dict[str, Any]:
        """Losses, steps and parameters as JSON values."""
        if not self.optimizers:
            self.by_hand.finish()
        held = self._held() if self.optimizers else self.by_hand.leaves if self.by_hand.steps else []
        return {
            "losses": self.losses or self.grad_losses,
            "steps": self.steps,
            "ended_early": self.ended_early,
            "optimizers": [type(optimizer).__name__ for optimizer in self.optimizers],
            "parameters": len(held),
            "digest": digest(held) if held else None,
            **self.trained.results(held),
            **self.recipe.results(),
        }

    def _held(self) -> list[Any]:
        """What the optimizers hold, each once."""
        groups = (group for optimizer in self.optimizers for group in optimizer.param_groups)
        found = {id(parameter): parameter for group in groups for parameter in group["params"]}
        return list(found.values())


def _value(root: Any, gradient: Any) -> float | None:
    """The number that a backward pass starts from: a scalar, or the sum of the root weighted by ``gradient``."""
    unscaled = getattr(root, "_devfix_unscaled", None)
    if unscaled is not None:
        return float(unscaled)
    with unwatched():
        if root.is_complex():
            return None
        if root.numel() == 1:
            return float(root.detach().reshape(()))
        if gradient is None or gradient.shape != root.shape or gradient.device != root.device:
            return None
        return float((root.detach() * gradient.detach()).sum())
