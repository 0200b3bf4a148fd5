"""Compare the failures of two runs: whether the second one fails later, or with another value."""

from __future__ import annotations

import re

from devfix.trace.diagnosis.diagnose import Diagnosis, diagnose, diagnose_without_values
from devfix.trace.failure_trace_json import read_failure_trace
from devfix.verify.records import Run

__all__ = ["diagnosis_of", "failure_key", "got_further", "is_different_failure"]


def diagnosis_of(run: Run) -> Diagnosis | None:
    """Return the diagnosis of a run; None without a device error, or without code of the project on the stack."""
    failure = read_failure_trace(run) if run.device_error else None
    if failure is None or not failure.frames:
        return None
    return diagnose(failure) or diagnose_without_values(failure)


def got_further(before: Run, after: Run, diagnosis: Diagnosis) -> bool:
    """Return whether a run failed with a device error later than before, or with another value in the same call."""
    if not after.device_error or after.all_operations < before.all_operations:
        return False
    later = diagnosis_of(after)
    if after.all_operations > before.all_operations:
        return True
    return later is not None and later.name != diagnosis.name and _origin(later) != _origin(diagnosis)


def is_different_failure(diagnosis: Diagnosis, run: Run) -> bool:
    """Return whether a run failed with another value than the diagnosed one."""
    other = diagnosis_of(run)
    return other is not None and (_origin(other), _generic_name(other)) != (
        _origin(diagnosis),
        _generic_name(diagnosis),
    )


def _generic_name(diagnosis: Diagnosis) -> str:
    """Return the value's name without indices: one edit applies to all elements."""
    return re.sub(r"\[\d+\]", "[]", diagnosis.name)


def failure_key(diagnosis: Diagnosis) -> object:
    """Return a key for the failing line and the misplaced value that does not depend on line numbers."""
    return diagnosis.where.file, diagnosis.where.code, _origin(diagnosis), diagnosis.name


def _origin(diagnosis: Diagnosis) -> object:
    origin = diagnosis.origin
    if origin is None or origin.position is None:
        return diagnosis.name
    return origin.position.file, origin.position.code
