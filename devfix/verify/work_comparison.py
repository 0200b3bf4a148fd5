"""Work that a patch moved off the accelerator, by phase of the training and by operator of the backward pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from devfix.verify.loss_comparison import on_real_device
from devfix.verify.records import Run

__all__ = ["describe_moved_work"]

#: Least fraction of a phase's work on the accelerator that must remain there; a little may disappear (redundant copies
#: between accelerators), and no more than the rest may appear on the CPU.
MINIMUM_WORK = 0.9

#: The phases that consist of the model's own layers.
_STRICT = {"forward": "the forward pass", "backward": "the backward pass", "evaluation": "the evaluation"}

_NOTHING = (0, 0)


def describe_moved_work(patched: Run, original: Run) -> str | None:
    """Return the work that moved from the accelerator to the CPU; None if none did.

    Work that a run does not do at all, because it has fewer steps or calls of modules, has not moved.

    Collating batches and computing metrics on the CPU is legitimate, and not counted.  If a script has no model, every
    operation counts.

    Args:
        patched: the patched script's run on the accelerator.
        original: the original's run on the accelerator, without device checks if it fails with them.

    """
    if patched.device == "cpu":
        return None
    if not any(original.work.get(phase, _NOTHING)[0] for phase in _STRICT):
        return _describe_moved_operations(patched, original) or _describe_moved_computation(patched, original)
    for phase, name in _STRICT.items():
        on, off = patched.work.get(phase, _NOTHING)
        expected, expected_off = original.work.get(phase, _NOTHING)
        if on_real_device(patched):
            expected, expected_off = _scaled((expected, expected_off), on + off)
        if on < MINIMUM_WORK * expected or off - expected_off > (1 - MINIMUM_WORK) * expected:
            if _share(on, off) == _share(expected, expected_off) and _is_shorter(patched, original):
                continue
            return f"{name} {_describe_share((on, off), (expected, expected_off))}"
    operator = _moved_operator(patched, original)
    if operator is not None:
        return f"the backward pass of {operator} runs on the CPU instead of on the accelerator"
    share = max(1.0, len(patched.losses) / max(1, len(original.losses)))  # of the training that the original reached
    if patched.gradients_from_cpu > share * original.gradients_from_cpu:
        return (
            "a part of the forward pass runs on the CPU: the number of gradients that return from there is "
            f"{patched.gradients_from_cpu} instead of {original.gradients_from_cpu}"
        )
    if patched.steps <= original.steps and patched.updates_on_cpu > original.updates_on_cpu:
        return (
            "optimizers update parameters on the CPU: the number of updates there is "
            f"{patched.updates_on_cpu} instead of {original.updates_on_cpu}"
        )
    return _describe_moved_updates(patched, original) or _describe_moved_evaluation(patched, original)


def _describe_moved_evaluation(patched: Run, original: Run) -> str | None:
    """Return the work of most calls of models without gradients that moved to the CPU; None if none did.

    These are evaluations and forward passes of an ``autograd.Function``.
    """
    calls = _model_calls(original, False) or _model_calls(original)
    moved = _moved_calls(patched.evaluations, original.evaluations)
    operator = max(moved, key=moved.__getitem__, default=None)
    if operator is not None and moved.total() >= max(1, calls / 2):
        return (
            "a part of the model without gradients runs on the CPU instead of on the accelerator: the number of calls "
            f"of {operator.strip('_')} there is {moved[operator]} more than in the original"
        )
    reads = min(patched.host_reads - original.host_reads, patched.host_returns - original.host_returns)
    if reads >= max(1, _model_calls(original) / 2):
        return (
            "a part of the model is computed outside of PyTorch: the number of arrays and lists that it makes of "
            f"tensors, whose results return to the accelerator, is {reads} more than in the original"
        )
    return None


def _describe_moved_computation(patched: Run, original: Run) -> str | None:
    """Return the computation of a script without a model that moved to the CPU; None if none did.

    Calls that happen once, such as a metric of the result, may move if they are less than a tenth of the work.
    """
    on, off = patched.decided_work
    expected, expected_off = original.decided_work
    if on < MINIMUM_WORK * expected and off - expected_off > (1 - MINIMUM_WORK) * expected:
        return f"the script {_describe_share((on, off), (expected, expected_off))}"
    for operator, calls in _moved_calls(patched.others, original.others).items():
        if calls >= max(2, original.others[operator][0] / 2):
            return (
                "a part of the computation runs on the CPU instead of on the accelerator: the number of calls of "
                f"{operator.strip('_')} there is {calls} more than in the original"
            )
    return None


def _moved_calls(ours: Mapping[str, tuple[int, int]], theirs: Mapping[str, tuple[int, int]]) -> Counter[str]:
    """Return the calls of each operator that left the accelerator and came to the CPU."""
    moved: Counter[str] = Counter()
    for name, (expected, expected_off) in theirs.items():
        on, off = ours.get(name, _NOTHING)
        moved[name] = min(expected - on, off - expected_off)
    return +moved


def _model_calls(run: Run, gradients: bool | None = None) -> int:
    """Return the number of calls of modules, with or without gradients if ``gradients`` is given."""
    return sum(phase.calls for phase in run.phases if gradients is None or phase.gradients is gradients)


def _describe_moved_updates(patched: Run, original: Run) -> str | None:
    """Return the work on parameters, gradients and their averages that moved to the CPU; None if none did.

    Work that is done once, such as formatting a result, may move; work that is done at every step may not.
    """
    on, off = patched.work.get("update", _NOTHING)
    expected, expected_off = original.work.get("update", _NOTHING)
    if on < MINIMUM_WORK * expected and off - expected_off > (1 - MINIMUM_WORK) * expected:
        return f"the update of the parameters {_describe_share((on, off), (expected, expected_off))}"
    if patched.steps > original.steps:
        return None
    left = _calls_by_column(original, 0) - _calls_by_column(patched, 0)
    came = _calls_by_column(patched, 1) - _calls_by_column(original, 1)
    if min(left.total(), came.total()) < max(1, original.steps / 2):
        return None
    operator, calls = came.most_common(1)[0]
    return (
        "a part of the update of the parameters runs on the CPU instead of on the accelerator: the number of calls "
        f"of {operator.strip('_')} there is {calls} more than in the original"
    )


def _calls_by_column(run: Run, column: int) -> Counter[str]:
    """Return the calls of each operator of the updates: column 0 on accelerators, column 1 on the CPU."""
    return Counter({name: calls[column] for name, calls in run.updates.items()})


def _scaled(both: tuple[int, int], total: int) -> tuple[int, int]:
    """Return the same shares of another total: real devices have other kernels, such as fused recurrent layers."""
    on, off = both
    expected = round(on / (on + off) * total) if on + off else 0
    return expected, total - expected


def _moved_operator(patched: Run, original: Run) -> str | None:
    """Return the first operator that runs on the CPU in most backward passes, and did not before; None if none does."""
    for name, (_, off) in patched.backward.items():
        expected, expected_off = original.backward.get(name, _NOTHING)
        if expected and off - expected_off >= max(1, len(original.losses) / 2):
            return name.removesuffix("_backward").lstrip("_")
    return None


def _describe_moved_operations(patched: Run, original: Run) -> str | None:
    on, expected = patched.device_operations, original.device_operations - original.host_operations
    if on >= MINIMUM_WORK * expected:
        return None
    if round(100 * patched.accelerator_share) == round(100 * original.accelerator_share) and _is_shorter(
        patched, original
    ):
        return None
    return f"{on:,} operations run on the accelerator instead of {expected:,}"


def _is_shorter(patched: Run, original: Run) -> bool:
    """Whether a run has fewer losses, steps or calls of modules."""
    return any(ours < theirs for ours, theirs in zip(_length(patched), _length(original)))


def _length(run: Run) -> tuple[int, int, int]:
    return len(run.losses), run.steps, sum(phase.calls for phase in run.phases)


def _share(on: int, off: int) -> str:
    return f"{100 * on / (on + off):.0f} %" if on + off else "none"


def _describe_share(ours: tuple[int, int], theirs: tuple[int, int]) -> str:
    """Return the share of the work on the accelerator, and the expected one, from the work there and elsewhere."""
    if _share(*ours) == _share(*theirs):
        return f"does {sum(ours):,} operations in PyTorch instead of {sum(theirs):,}"
    return f"does {_share(*ours)} of its work on the accelerator instead of {_share(*theirs)}"
