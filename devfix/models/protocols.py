"""Protocols of frameworks: what their classes pass to the methods that a subclass defines.

A framework that trains fixes the devices of these arguments, so a method needs no program that calls it.  Words:
``batch``, a batch that the framework has moved to the module's device; ``module``, a module that it has moved;
``number``; and ``""``, anything else.
"""

from __future__ import annotations

__all__ = ["hook_arguments"]

_LIGHTNING_STEP = ("batch", "number", "number")
_LIGHTNING_END = ("", "batch", "number", "number")

# Words by method and position.
# https://lightning.ai/docs/pytorch/stable/common/lightning_module.html
_LIGHTNING_MODULE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("training_step", "validation_step", "test_step", "predict_step"), _LIGHTNING_STEP),
    **dict.fromkeys(("on_train_batch_end", "on_validation_batch_end", "on_test_batch_end"), _LIGHTNING_END),
    "on_train_batch_start": ("batch", "number"),
}
# https://fairseq.readthedocs.io/en/latest/criterions.html, https://fairseq.readthedocs.io/en/latest/tasks.html
_FAIRSEQ_CRITERION: dict[str, tuple[str, ...]] = {"forward": ("module", "batch", "")}
_FAIRSEQ_TASK: dict[str, tuple[str, ...]] = {
    "train_step": ("batch", "module", "module", "", "number", ""),
    "valid_step": ("batch", "module", "module"),
}

# By class name.
_HOOKS: dict[str, dict[str, tuple[str, ...]]] = {
    "CrossEntropyCriterion": _FAIRSEQ_CRITERION,
    "FairseqCriterion": _FAIRSEQ_CRITERION,
    "FairseqTask": _FAIRSEQ_TASK,
    "LabelSmoothedCrossEntropyCriterion": _FAIRSEQ_CRITERION,
    "LegacyFairseqCriterion": _FAIRSEQ_CRITERION,
    "LegacyFairseqTask": _FAIRSEQ_TASK,
    "LightningModule": _LIGHTNING_MODULE,
    "TranslationTask": _FAIRSEQ_TASK,
}


def hook_arguments(base: str, method: str) -> tuple[str, ...]:
    """Return the words of what a framework passes to a method of a subclass of ``base``, without ``self``.

    Args:
        base: the full name of the base class, as far as a file shows it.
        method: the name of the method.

    """
    return _HOOKS.get(base.rpartition(".")[2], {}).get(method, ())
