"""Overlays: frameworks that place modules and batches themselves, the transforms of ``torch.func``, and tracers.

Input: calls of framework functions, by full name, and of methods of framework objects.  Output: abstract values, on the
device that the framework chooses.

May import :mod:`devfix.analysis.domain`, :mod:`devfix.analysis.stdlib`, :mod:`devfix.analysis.torch`, and the device
arguments, the device check and the modelled calls in :mod:`devfix.analysis.transfer`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from devfix.analysis.overlays import (
    accelerate,
    config_nodes,
    deepspeed,
    diffusers_,
    function_transforms,
    functional_modules,
    graphs,
    hyperpyyaml_,
    ignite,
    image_transforms,
    lightning,
    option_classes,
    speechbrain,
    tracers,
    transformers_,
)
from devfix.analysis.stdlib.instances import InstanceObject
from devfix.models.names import DEVICE_PLACING_TRAINERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from devfix.analysis.domain.protocol import TransferFunction

__all__ = ["OVERLAYS", "instance_kind"]

OVERLAYS: dict[str, TransferFunction] = {
    **accelerate.OVERLAYS,
    **config_nodes.OVERLAYS,
    **deepspeed.OVERLAYS,
    **diffusers_.OVERLAYS,
    **function_transforms.OVERLAYS,
    **functional_modules.OVERLAYS,
    **graphs.OVERLAYS,
    **hyperpyyaml_.OVERLAYS,
    **ignite.OVERLAYS,
    **image_transforms.OVERLAYS,
    **lightning.OVERLAYS,
    **option_classes.OVERLAYS,
    **speechbrain.OVERLAYS,
    **tracers.OVERLAYS,
    **transformers_.OVERLAYS,
}

# What an instance of a project class is that derives from one of these classes, by patterns of full names.
_INSTANCES: dict[str, type[InstanceObject]] = {
    **{f"{name}*": transformers_.TrainerObject for name in DEVICE_PLACING_TRAINERS},
    "tap.Tap": option_classes.TypedParserObject,
    "diffusers.*Pipeline": diffusers_.PipelineObject,
    "speechbrain.Brain": speechbrain.BrainObject,
    "speechbrain.core.Brain": speechbrain.BrainObject,
}


def instance_kind(bases: Iterable[str]) -> type[InstanceObject]:
    """Return the kind of an instance of a project class by the full names of its library bases."""
    for base in bases:
        for pattern, kind in _INSTANCES.items():
            if fnmatchcase(base, pattern):
                return kind
    return InstanceObject
