"""Confirmation of a silent fix: one that only changes which parameters train.

If the original raises nothing but omits parameters from the optimizer, none of its runs has the losses of the fixed
script.  One more run of the fixed script freezes exactly these parameters; it must train as the original did, bit for
bit.  That run hides the accelerator if the original runs without one; otherwise it simulates one without device checks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devfix.verify.evidence import describe_changed_behavior, describe_changed_phases
from devfix.verify.loss_comparison import agree, first_difference
from devfix.verify.records import Run
from devfix.verify.training_invariants import describe_gradient_change, describe_recipe_change
from devfix.verify.verdict import Verdict, trains_more

__all__ = ["FROZEN_RUN", "confirm_silent_fix"]

#: Name of the run that freezes the parameters that the original did not train.
FROZEN_RUN = "patched/held still"

#: Optimizers whose update of one parameter depends on all others.
_JOINT = ("LBFGS",)

Make = Callable[[str, tuple[str, ...]], Run]


def confirm_silent_fix(verdict: Verdict, make: Make) -> Verdict:
    """Return the verdict on a silent fix after the confirming run.

    Args:
        verdict: ``fixed``, and silent.
        make: makes the run of the given name with the given parameters frozen.

    """
    stage = "cpu" if verdict.runs["original/cpu"].ok else "unchecked"
    original = verdict.runs[f"original/{stage}"]
    runs = dict(verdict.runs)
    if f"patched/{stage}" not in runs:
        runs[f"patched/{stage}"] = make(f"patched/{stage}", ())
    patched = runs[f"patched/{stage}"]

    def rejected(status: str, reason: str) -> Verdict:
        return Verdict(status, reason, runs, silent=True)

    change = describe_recipe_change(patched, original) or describe_gradient_change(patched, original)
    if change:
        return rejected("loss-differs", f"more parameters train, but {change}")
    if describe_changed_phases(patched, original):
        return rejected("output-differs", f"more parameters train, but {describe_changed_phases(patched, original)}")
    if agree(patched, original):
        return replace(verdict, runs=runs)
    if not trains_more(patched, original):
        return rejected("loss-differs", f"more parameters train, but {_describe_difference(patched, original, stage)}")
    joint = [name for name in original.optimizers if name in _JOINT]
    if joint:
        reason = (
            f"more parameters train, and {joint[0]} updates all parameters jointly: the effect of the new parameters "
            "cannot be isolated"
        )
        return rejected("inconclusive", reason)
    runs[FROZEN_RUN] = frozen = make(f"patched/{stage}", original.forgotten_keys)
    if not frozen.ok:
        return rejected("inconclusive", f"with the new parameters frozen, the patched script failed: {frozen.outcome}")
    if frozen.frozen < len(original.forgotten):
        reason = "their initial values or first gradients differ from those in the original"
        return rejected("loss-differs", f"more parameters train, but {reason}")
    if frozen.losses != original.losses or frozen.steps != original.steps:
        difference = _describe_difference(frozen, original, stage)
        return rejected("loss-differs", f"more parameters train, but with these frozen {difference}")
    if frozen.trained_digest != original.trained_digest:
        return rejected("loss-differs", "more parameters train, but the final values of the others differ")
    change = describe_changed_behavior(frozen, original, states=False)
    if change:
        return rejected("output-differs", f"more parameters train, but with these frozen {change}")
    return replace(
        verdict, runs=runs, reason=f"{verdict.reason}; with these frozen, it trains as original/{stage} bit for bit"
    )


def _describe_difference(run: Run, original: Run, stage: str) -> str:
    index = first_difference(run.losses, original.losses)
    if index is not None and index < min(len(run.losses), len(original.losses)):
        return f"loss {index + 1} is {run.losses[index]!r}, but {original.losses[index]!r} in original/{stage}"
    return (
        f"{len(run.losses)} losses over {run.steps} steps were recorded, but {len(original.losses)} over "
        f"{original.steps} in original/{stage}"
    )
