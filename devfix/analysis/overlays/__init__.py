"""Overlays: frameworks that place modules and batches themselves, the transforms of ``torch.func``, and tracers.

Input: calls of framework functions, by full name, and of methods of framework objects.  Output: abstract values, on the
device that the framework chooses.

May import :mod:`devfix.analysis.domain`, :mod:`devfix.analysis.stdlib`, :mod:`devfix.analysis.torch`, and the device
arguments and the device check in :mod:`devfix.analysis.transfer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.overlays import (
    accelerate,
    deepspeed,
    function_transforms,
    functional_modules,
    graphs,
    ignite,
    lightning,
    tracers,
    transformers_,
)

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import TransferFunction

__all__ = ["OVERLAYS"]

OVERLAYS: dict[str, TransferFunction] = {
    **accelerate.OVERLAYS,
    **deepspeed.OVERLAYS,
    **function_transforms.OVERLAYS,
    **functional_modules.OVERLAYS,
    **graphs.OVERLAYS,
    **ignite.OVERLAYS,
    **lightning.OVERLAYS,
    **tracers.OVERLAYS,
    **transformers_.OVERLAYS,
}
