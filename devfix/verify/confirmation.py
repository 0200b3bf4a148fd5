"""A silent repair changes what is trained, and nothing else.

Where the original raised nothing and forgot parameters, no run of it has the losses of the repaired script.  But the
repaired script in which just these parameters are held still must train as the original did, bit for bit: one more run
shows it.  It is made where the original ran without an accelerator, else on one that never complains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devfix.verify.loss_comparison import agree, first_difference
from devfix.verify.records import Run
from devfix.verify.training_invariants import other_gradients, other_recipe
from devfix.verify.verdict import Verdict, trains_more

__all__ = ["STILL", "confirmed"]

#: What the run is called in which the parameters that the original forgot are held still.
STILL = "patched/held still"

#: Optimizers that move all their parameters by one number that they make of all.
_JOINT = ("LBFGS",)

Make = Callable[[str, tuple[str, ...]], Run]


def confirmed(verdict: Verdict, make: Make) -> Verdict:
    """The verdict on a silent repair, after one more look.

    Args:
        verdict: ``fixed``, and silent.
        make: makes the run of a name, with parameters held still.

    """
    stage = "cpu" if verdict.runs["original/cpu"].ok else "unchecked"
    original = verdict.runs[f"original/{stage}"]
    runs = dict(verdict.runs)
    if f"patched/{stage}" not in runs:
        runs[f"patched/{stage}"] = make(f"patched/{stage}", ())
    patched = runs[f"patched/{stage}"]

    def refused(word: str, reason: str) -> Verdict:
        return Verdict(word, reason, runs, silent=True)

    other = other_recipe(patched, original) or other_gradients(patched, original)
    if other:
        return refused("loss-differs", f"more parameters train, but {other}")
    if agree(patched, original):
        return replace(verdict, runs=runs)
    if not trains_more(patched, original):
        return refused("loss-differs", f"more parameters train, but {_apart(patched, original, stage)}")
    joint = [name for name in original.optimizers if name in _JOINT]
    if joint:
        reason = f"more parameters train, and {joint[0]} moves all together: whether only that changed cannot be seen"
        return refused("inconclusive", reason)
    runs[STILL] = still = make(f"patched/{stage}", original.forgotten_keys)
    if not still.ok:
        return refused("inconclusive", f"with the new ones held still, the patched script {still.outcome}")
    if still.still < len(original.forgotten):
        reason = "the values or the gradients that they start with are not those of the original"
        return refused("loss-differs", f"more parameters train, but {reason}")
    if still.losses != original.losses or still.steps != original.steps:
        apart = _apart(still, original, stage)
        return refused("loss-differs", f"more parameters train, but with these held still {apart}")
    if still.trained_digest != original.trained_digest:
        return refused("loss-differs", "more parameters train, but the others do not end where they did before")
    return replace(
        verdict, runs=runs, reason=f"{verdict.reason}; with these held still, it trains as original/{stage} bit for bit"
    )


def _apart(run: Run, original: Run, stage: str) -> str:
    index = first_difference(run.losses, original.losses)
    if index is not None and index < min(len(run.losses), len(original.losses)):
        return f"loss {index + 1} is {run.losses[index]!r} against {original.losses[index]!r} of original/{stage}"
    return (
        f"{len(run.losses)} losses over {run.steps} steps are not the {len(original.losses)} over {original.steps} "
        f"of original/{stage}"
    )
