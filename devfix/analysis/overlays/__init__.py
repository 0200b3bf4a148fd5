"""Overlays: frameworks that place modules and batches themselves, one module per framework.

Input: calls of framework functions, by full name, and of methods of framework objects.  Output: abstract values, on the
device that the framework chooses.

May import :mod:`devfix.analysis.domain`, :mod:`devfix.analysis.torch`, and the device arguments in
:mod:`devfix.analysis.transfer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.analysis.overlays import accelerate, deepspeed, graphs, ignite, lightning, transformers_

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import TransferFunction

__all__ = ["OVERLAYS"]

OVERLAYS: dict[str, TransferFunction] = {
    **accelerate.OVERLAYS,
    **deepspeed.OVERLAYS,
    **graphs.OVERLAYS,
    **ignite.OVERLAYS,
    **lightning.OVERLAYS,
    **transformers_.OVERLAYS,
}
