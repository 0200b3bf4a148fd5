"""Evidence besides the losses: optimizers, gradients, calls of modules, final states, random numbers, results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from devfix.verify.loss_comparison import on_real_device
from devfix.verify.records import Phase, Run
from devfix.verify.training_invariants import describe_gradient_change, describe_recipe_change

__all__ = [
    "describe_changed_behavior",
    "describe_changed_phases",
    "describe_changed_settings",
    "describe_changed_training",
]

#: On a real accelerator: relative tolerance of gradient norms, and the number of steps after which rounding errors may
#: have accumulated beyond it.
_NORM_TOLERANCE = 0.05
_NORM_STEPS = 20


def describe_changed_training(run: Run, reference: Run) -> str | None:
    """Return how the optimizer steps or their gradients differ from the reference's; None if they do not."""
    return (
        describe_recipe_change(run, reference)
        or describe_gradient_change(run, reference)
        or _describe_changed_norms(run, reference)
    )


def describe_changed_behavior(run: Run, reference: Run, *, states: bool = True) -> str | None:
    """Return how the run differs from the reference outside its training steps; None if it does not.

    Compared are the calls of modules, the state of the modules at the end, and what the top-level calls return; on
    the simulator also the random state.

    Args:
        run: the run to judge.
        reference: the run with the expected results.
        states: compare the modules' tensors that are in no optimizer; False if the runs train other parameters.

    """
    change = describe_changed_phases(run, reference)
    if change is not None:
        return change
    if on_real_device(run, reference):
        return None
    if states and not _has_states(run.module_states, reference.module_states):
        return "the buffers or averaged parameters of a module differ at the end"
    if len(run.returned) == len(reference.returned) and run.returned != reference.returned:
        return _describe_changed_results(run.returned, reference.returned)
    settings = describe_changed_settings(run, reference)
    if settings is not None:
        return settings
    if run.random != reference.random:
        return "the random state at the end differs: other random numbers were drawn"
    return None


def describe_changed_settings(run: Run, reference: Run) -> str | None:
    """Return how the seeds or the precision of two runs on a simulated accelerator differ; None if they do not.

    The simulated accelerator draws the CPU's random numbers and computes as the CPU does, so neither shows in a result.
    """
    if "cpu" in (run.device, reference.device) or on_real_device(run, reference):
        return None
    if run.matmul_precision != reference.matmul_precision:
        return f"the precision of matrix products is {run.matmul_precision} instead of {reference.matmul_precision}"
    if run.kernel_choice != reference.kernel_choice:
        return f"the choice of kernels is {_names(run.kernel_choice)} instead of {_names(reference.kernel_choice)}"
    if run.device_seedings != reference.device_seedings:
        return (
            f"the number of seeds for the accelerator's own generator is {run.device_seedings} instead of "
            f"{reference.device_seedings}"
        )
    return None


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "PyTorch's own"


def _describe_changed_norms(run: Run, reference: Run) -> str | None:
    exact = not on_real_device(run, reference)
    pairs = zip(run.gradient_norms, reference.gradient_norms)
    for number, (ours, theirs) in enumerate(pairs, 1):
        if ours is None or theirs is None or ours == theirs or (ours != ours and theirs != theirs):
            continue
        if exact or (number <= _NORM_STEPS and not abs(ours - theirs) <= _NORM_TOLERANCE * max(abs(ours), abs(theirs))):
            return f"the norm of the gradients before step {number} is {ours:.6g} instead of {theirs:.6g}"
    return None


def describe_changed_phases(run: Run, reference: Run) -> str | None:
    """Return the first difference of the calls of modules: their mode, their number, or their samples."""
    exact = not on_real_device(run, reference)
    if _evaluations(reference) and not _evaluations(run):
        return f"the evaluation is missing: {_name(reference)} has {_format_phase(_evaluations(reference)[0])}"
    for number, (ours, theirs) in enumerate(zip_longest(run.phases, reference.phases), 1):
        if ours is not None and theirs is not None and _is_same_mode(ours, theirs):
            if exact and ours.results != theirs.results:
                verb = "returns" if ours.calls == 1 else "return"
                return f"{_format_phase(ours)} {verb} other values than in {_name(reference)} (phase {number})"
        else:
            verb = "is" if ours is not None and ours.calls == 1 else "are"
            return f"there {verb} {_format_phase(ours)} where {_name(reference)} has {_format_phase(theirs)}"
    return None if run.rest_of_phases == reference.rest_of_phases else "late calls of the modules differ"


def _evaluations(run: Run) -> list[Phase]:
    """Return the calls of modules without gradients in evaluation mode."""
    return [phase for phase in run.phases if phase.training is False and not phase.gradients]


def _is_same_mode(ours: Phase, theirs: Phase) -> bool:
    """Whether two phases agree but for their results; a module without registered children may know no mode."""
    modes = {ours.training, theirs.training} - {None}
    return len(modes) < 2 and ours[1:-1] == theirs[1:-1]


def _name(reference: Run) -> str:
    return "the run without an accelerator" if reference.device == "cpu" else "the run without device checks"


def _has_states(ours: Sequence[tuple[str, ...]], theirs: Sequence[tuple[str, ...]]) -> bool:
    """Whether each module of the reference has a counterpart with all its tensors, and possibly more buffers."""
    return len(ours) == len(theirs) and not any(Counter(one) - Counter(mine) for mine, one in zip(ours, theirs))


def _format_phase(phase: Phase | None) -> str:
    if phase is None:
        return "no more calls of modules"
    mode = "" if phase.training is None else f" in {'training' if phase.training else 'evaluation'} mode"
    calls = f"{phase.calls} call{'s' * (phase.calls != 1)} of modules{mode}"
    gradients = "with gradients" if phase.gradients else "without gradients"
    return f"{calls} {gradients} ({phase.samples} samples)"


def _describe_changed_results(ours: Sequence[str], theirs: Sequence[str]) -> str:
    one, other = next(pair for pair in zip(ours, theirs) if pair[0] != pair[1])
    return f"a top-level call returns {_short(one)} instead of {_short(other)}"


def _short(value: str) -> str:
    return value if len(value) <= 60 else value[:59] + "…"
