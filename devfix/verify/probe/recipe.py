"""Training recipe: the settings of each optimizer step, and the scheduler steps and gradient clipping in between."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any

from .parameters import trainable, untracked

__all__ = ["Recipe"]

_MAX_ENTRIES = 4096

#: Settings that select an implementation, and internal ones of schedulers (their result is ``lr``).
_IGNORED = frozenset(
    (
        *("params", "param_names", "foreach", "fused", "capturable", "differentiable"),
        *("initial_lr", "max_lr", "min_lr", "max_momentum", "base_momentum"),
    )
)


#: Functions that clip gradients, with the names of their settings in order.
_CLIPPING = {
    "clip_grad_norm_": ("parameters", "max_norm", "norm_type"),
    "clip_grad_value_": ("parameters", "clip_value"),
}


#: State of schedulers that is no setting.
_SCHEDULER_STATE = frozenset(("last_epoch", "verbose", "best", "num_bad_epochs", "cooldown_counter", "T_cur", "T_i"))


class Recipe:
    """Entries ``[class name, settings of each parameter group, times]``.

    The entry of a scheduler has one group with its settings, such as ``step_size``, that of a clipping function one
    with its arguments.

    ``params`` in the settings is a digest of the shapes of the group's parameters.  Scheduler steps before the first
    optimizer step are ignored, because a scheduler steps once in its constructor.
    """

    def __init__(self) -> None:
        self._entries: list[list[Any]] = []
        self._overflow_digest: Any = None
        self._shapes: dict[tuple[int, ...], str] = {}

    def install(self) -> None:
        """Hook schedulers and clipping functions; the recorder calls :meth:`note_optimizer` for optimizers."""
        from torch.nn import utils
        from torch.optim import lr_scheduler

        for found in list(vars(lr_scheduler).values()):
            if isinstance(found, type) and "step" in vars(found) and hasattr(found, "get_last_lr"):
                self._hook(found)
        for name, names in _CLIPPING.items():
            self._hook_clipping(utils, name, names)

    def _hook_clipping(self, library: Any, name: str, names: tuple[str, ...]) -> None:
        real = getattr(library, name)

        @functools.wraps(real)
        def clip(*args: Any, **kwargs: Any) -> Any:
            settings = {**dict(zip(names, args)), **kwargs}
            with untracked():
                plain = {key: _plain(settings[key]) for key in names[1:] if key in settings}
            self._note(name, [{**plain, "params": ""}])
            return real(*args, **kwargs)

        setattr(library, name, clip)

    def _hook(self, scheduler: Any) -> None:
        real = scheduler.step

        def step(this: Any, *args: Any, **kwargs: Any) -> Any:
            if self._entries:
                self._note(type(this).__name__, [_scheduler_settings(this)])
            return real(this, *args, **kwargs)

        scheduler.step = step

    def note_optimizer(self, optimizer: Any) -> None:
        """Record the optimizer's settings; call this before its step."""
        with untracked():
            groups = [
                {name: _plain(value) for name, value in group.items() if name not in _IGNORED}
                | {"params": self._shapes_of(group["params"])}
                for group in optimizer.param_groups
            ]
        self._note(type(optimizer).__name__, groups)

    def _shapes_of(self, parameters: list[Any]) -> str:
        training = trainable(parameters)
        key = tuple(map(id, training))
        if key not in self._shapes:
            shapes = str([tuple(each.shape) for each in training])
            self._shapes[key] = hashlib.sha256(shapes.encode()).hexdigest()[:12]
        return self._shapes[key]

    def _note(self, name: str, groups: list[dict[str, Any]]) -> None:
        if self._entries and self._overflow_digest is None and self._entries[-1][:2] == [name, groups]:
            self._entries[-1][2] += 1
        elif len(self._entries) < _MAX_ENTRIES:
            self._entries.append([name, groups, 1])
        else:
            self._overflow_digest = self._overflow_digest or hashlib.sha256()
            self._overflow_digest.update(json.dumps([name, groups], sort_keys=True).encode())

    def results(self) -> dict[str, Any]:
        """Return the entries, and a digest of those beyond the recorded number."""
        return {"recipe": self._entries, "rest_of_recipe": self._overflow_digest and self._overflow_digest.hexdigest()}


def _scheduler_settings(scheduler: Any) -> dict[str, Any]:
    settings = {name: value for name, value in vars(scheduler).items() if isinstance(value, (bool, int, float, str))}
    shown = {name: settings[name] for name in settings if not name.startswith("_") and name not in _SCHEDULER_STATE}
    return {**shown, "params": ""}


def _plain(value: Any) -> Any:
    """Return a setting as a JSON value."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "numel") and value.numel() == 1:  # a learning rate may be a tensor
        return float(value.detach())
    return type(value).__name__
