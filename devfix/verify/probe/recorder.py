"""Recording from inside the script's process: losses, optimizer steps and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .parameters import ManualUpdates, digest, gradient_norm, trainable, untracked
from .phases import Phases
from .plain import is_transformed, plain_tensors
from .recipe import Recipe
from .trained import TrainedParameters

if TYPE_CHECKING:
    from .placement import Survey
    from .provenance import TimelineReport

__all__ = ["EnoughSteps", "Recorder"]

_MAX_LOSSES = 200_000
_MAX_NORMS = 1000


class EnoughSteps(BaseException):
    """Raised to end the run after the requested number of optimizer steps."""


class Recorder:
    """Losses, steps and parameters of the script.

    Losses are the roots of backward passes.  In a script without any, they are the roots of ``torch.autograd.grad``
    calls (in other scripts these compute penalties and inner steps).

    Args:
        max_steps: end the run after this many optimizer steps; None: no limit.
        frozen: keys of parameters to freeze, as for :class:`.trained.TrainedParameters`.
        keep_modules: as for :class:`.phases.Phases`.

    Attributes:
        problem: what could not be recorded, as an unsupported feature; None if everything was.
        timeline: the timeline, to which steps are added; None if it is not requested.
        survey: the device map, which may end the run after a step; None if it is not requested.
        device_of: returns the device of a tensor as a string, such as ``cuda:0``.
        updates_on_cpu: how many parameters on the CPU optimizers have updated, counted at each step.

    """

    def __init__(self, max_steps: int | None, frozen: Sequence[str] = (), keep_modules: bool = True) -> None:
        self.max_steps = max_steps
        self.losses: list[float] = []
        self.grad_losses: list[float] = []
        self.optimizer_steps = 0
        self.ended_early = False
        self.optimizers: list[Any] = []
        self.trained = TrainedParameters(frozen)
        self.recipe = Recipe()
        self.phases = Phases(keep_modules)
        self.gradient_norms: list[float | None] = []
        self.manual_updates = ManualUpdates()
        self.problem: str | None = None
        self.timeline: TimelineReport | None = None
        self.survey: Survey | None = None
        self.device_of: Callable[[Any], str] = lambda tensor: str(tensor.device)
        self.updates_on_cpu = 0

    @property
    def steps(self) -> int:
        """Number of optimizer steps; in a script without an optimizer, of manual updates."""
        return self.optimizer_steps or self.manual_updates.steps

    def install(self) -> None:
        """Hook backward passes, loss scaling and optimizers."""
        self._hook_backward()
        self._hook_scaler()
        self._hook_optimizers()
        self.recipe.install()
        self.phases.install()

    def _before_backward(self, tensors: Any, gradients: Any, into: list[float]) -> None:
        try:
            self._note_backward(tensors, gradients, into)
        except Exception as error:
            self._note_problem("losses", error)

    def _note_backward(self, tensors: Any, gradients: Any, into: list[float]) -> None:
        import torch

        roots = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
        given = gradients if isinstance(gradients, (list, tuple)) else (gradients,) * len(roots)
        if not self.optimizer_steps:
            self.manual_updates.before_backward(root for root in roots if isinstance(root, torch.Tensor))
            self._end_if_enough()
        for root, gradient in zip(roots, given):
            value = _value(root, gradient) if isinstance(root, torch.Tensor) else None
            if value is not None and len(into) < _MAX_LOSSES:
                into.append(value)

    def _note_problem(self, what: str, error: Exception) -> None:
        """Record a kind of tensor that cannot be read as unsupported; the script is not to blame."""
        self.problem = self.problem or f"{what} that cannot be recorded ({type(error).__name__}: {error})"

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
        """Record losses before scaling."""
        import torch

        scaler: Any = torch.amp.GradScaler
        real = scaler.scale

        def scale(this: Any, outputs: Any) -> Any:
            scaled = real(this, outputs)
            if isinstance(outputs, torch.Tensor) and outputs.numel() == 1 and scaled is not outputs:
                scaled._devfix_unscaled = _value(outputs, None)
            return scaled

        scaler.scale = scale

    def _hook_optimizers(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        def before_step(optimizer: Any, args: Any, kwargs: Any) -> None:
            try:
                self.recipe.note_optimizer(optimizer)
                self._count_updates_on_cpu(optimizer)
                self.trained.before_step(optimizer)
                if len(self.gradient_norms) < _MAX_NORMS:
                    self.gradient_norms.append(gradient_norm(optimizer))
            except Exception as error:
                self._note_problem("parameters", error)

        def after_step(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.trained.after_step()
            if all(optimizer is not known for known in self.optimizers):
                self.optimizers.append(optimizer)
            self.optimizer_steps += 1
            self._end_if_enough()

        register_optimizer_step_pre_hook(before_step)
        register_optimizer_step_post_hook(after_step)

    def _count_updates_on_cpu(self, optimizer: Any) -> None:
        parameters = (each for group in optimizer.param_groups for each in trainable(group["params"]))
        self.updates_on_cpu += sum(self.device_of(each) == "cpu" for each in parameters)

    def _end_if_enough(self) -> None:
        if self.timeline is not None:
            self.timeline.after_step(self.steps)
        enough = self.max_steps is not None and self.steps >= self.max_steps
        if self.survey is not None and self.steps:
            enough = self.survey.after_step(self.optimizers, self.steps, enough) or enough
        if enough:
            self.ended_early = True
            raise EnoughSteps

    def results(self) -> dict[str, Any]:
        """Return losses, steps and parameters as JSON values."""
        if not self.optimizers:
            self.manual_updates.finish()
        optimized = (
            self._optimized_parameters()
            if self.optimizers
            else self.manual_updates.leaves
            if self.manual_updates.steps
            else []
        )
        return {
            "losses": self.losses or self.grad_losses,
            "steps": self.steps,
            "ended_early": self.ended_early,
            "optimizers": [type(optimizer).__name__ for optimizer in self.optimizers],
            "parameters": len(optimized),
            "digest": digest(optimized) if optimized else None,
            **self.trained.results(optimized),
            **self.recipe.results(),
            **self.phases.results(optimized),
            "gradient_norms": self.gradient_norms,
            "updates_on_cpu": self.updates_on_cpu,
        }

    def _optimized_parameters(self) -> list[Any]:
        """Return the optimizers' parameters, each once, without those that do not train."""
        groups = (group for optimizer in self.optimizers for group in optimizer.param_groups)
        found = {id(parameter): parameter for group in groups for parameter in trainable(group["params"])}
        return list(found.values())


def _value(root: Any, gradient: Any) -> float | None:
    """Return the loss of a backward pass: the scalar root, or the sum of the root weighted by ``gradient``.

    The loss of a pass in ``vmap`` is the sum over the batch.
    """
    unscaled = getattr(root, "_devfix_unscaled", None)
    if unscaled is not None:
        return float(unscaled)
    with untracked():
        if root.is_complex():
            return None
        is_scalar = root.numel() == 1
        parts = list(plain_tensors(root))
        if len(parts) != 1:
            return None
        plain = parts[0].detach()
        if is_scalar:
            return float(plain.sum() if is_transformed(root) else plain.reshape(()))
        if gradient is None or is_transformed(gradient) or gradient.shape != plain.shape:
            return None
        return float((plain * gradient.detach()).sum()) if gradient.device == plain.device else None
