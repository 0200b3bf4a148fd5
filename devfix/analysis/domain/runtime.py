"""PyTorch's settings on one path, which the program changes as it runs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from devfix.analysis.domain.records import dataclass
from devfix.analysis.domain.values import CPU, UNKNOWN_DEVICE, Device

__all__ = ["Runtime"]


@dataclass(frozen=True)
class Runtime:
    """PyTorch's settings on one path.

    Attributes:
        default_device: device of new tensors without ``device=``.
        gradients: whether gradients are recorded.
        backends: the possible backends of the process group; ``None`` stands for no process group, ``"unknown"`` for a
            backend without a known name.
        current_is_zero: whether the current accelerator is number 0; ``None`` if unknown.
        forks: whether worker processes are forked, as on Linux by default; ``None`` if unknown.
        sees_accelerators: whether accelerators are visible; not with ``os.environ["CUDA_VISIBLE_DEVICES"] = "-1"``.

    """

    default_device: Device = CPU
    gradients: bool = True
    backends: frozenset[str | None] = frozenset({None})
    current_is_zero: bool | None = True
    forks: bool | None = True
    sees_accelerators: bool = True

    def join(self, other: Runtime) -> Runtime:
        """Return the settings after two paths meet.

        Of two default devices none is known.  Where one path records gradients, tensors may require them: that costs
        a fix a ``.detach()`` too many, the opposite would let it fail.
        """
        if self == other:
            return self
        return Runtime(
            self.default_device if self.default_device == other.default_device else UNKNOWN_DEVICE,
            self.gradients or other.gradients,
            self.backends | other.backends,
            self.current_is_zero if self.current_is_zero is other.current_is_zero else None,
            self.forks if self.forks is other.forks else None,
            self.sees_accelerators or other.sees_accelerators,
        )

    def changes(self, later: Runtime) -> dict[str, Any]:
        """Return the settings that differ in ``later``, with their values there."""
        names = (each.name for each in fields(self))
        return {name: getattr(later, name) for name in names if getattr(later, name) != getattr(self, name)}
