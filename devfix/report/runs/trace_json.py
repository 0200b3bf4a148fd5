"""A trace as JSON; ``schema/trace-2.json`` documents it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from devfix import __version__

if TYPE_CHECKING:
    from devfix.trace.failure_trace import FailureTrace, Package, Position, Value, ValueEvent
    from devfix.trace.report_facts import ValueDescription
    from devfix.trace.tracing import Trace

__all__ = ["SCHEMA_VERSION", "document", "dumps"]

SCHEMA_VERSION = 2


def dumps(trace: Trace) -> str:
    """Return the document as ASCII text with an indentation of two spaces and a final newline."""
    return json.dumps(document(trace), indent=2) + "\n"


def document(trace: Trace) -> dict[str, Any]:
    """Return the trace as JSON values; a non-finite loss is a string."""
    experiment, run = trace.experiment, trace.run
    failure = trace.device_error or run.failure
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "devfix", "version": __version__},
        "script": experiment.project.script,
        "arguments": list(experiment.args),
        "project": str(experiment.project.root),
        "python": experiment.python,
        "device": experiment.device,
        "device_type": experiment.kind,
        "device_reason": experiment.why,
        "exit_code": trace.exit_code,
        "status": trace.status,
        "device_error": trace.device_error is not None,
        "caught": run.caught is not None,
        "summary": trace.summary,
        "notes": list(trace.remarks),
        "run": {
            "outcome": run.outcome,
            "ok": run.ok,
            "exit_code": run.exit_code,
            "stopped": run.stopped,
            "recorded": run.has_report,
            "steps": run.steps,
            "losses": [loss if math.isfinite(loss) else str(loss) for loss in run.losses],
            "torch": run.torch,
            "output": run.output,
            "traceback": failure.traceback if failure else None,
        },
        "error": _error(trace.failure) if trace.failure else None,
        "cause": _cause(trace),
        "values": [_description(description) for description in trace.values],
        "edit": _edit(trace),
    }


def _error(failure: FailureTrace) -> dict[str, Any]:
    return {
        "type": failure.error,
        "message": failure.message,
        "family": failure.family,
        "operation": failure.operation,
        "function": failure.function,
        "frames": [_position(frame) for frame in failure.frames],
        "package": _package(failure.package),
    }


def _cause(trace: Trace) -> dict[str, Any] | None:
    cause = trace.cause
    if cause is None:
        return None
    return {"rule": cause.rule, "sentence": cause.sentence, "package": _package(cause.package)}


def _description(description: ValueDescription) -> dict[str, Any]:
    return {
        "name": description.name,
        "misplaced": description.is_misplaced,
        "together_with": list(description.also_misplaced),
        **_value(description.value),
        "facts": [{"kind": fact.kind, "where": fact.where, "text": fact.text} for fact in description.facts],
    }


def _value(value: Value) -> dict[str, Any]:
    return {
        "role": value.role,
        "names": [name.text for name in value.names],
        "shape": list(value.shape),
        "dtype": value.dtype,
        "device": value.device,
        "history": [_event(event) for event in value.history],
    }


def _event(event: ValueEvent) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "operation": event.operation,
        "device": event.device,
        "index": event.index,
        "before": list(event.predecessors),
        "loader": event.from_loader,
        "chain": [_position(position) for position in event.stack],
        "package": _package(event.package),
    }


def _position(position: Position) -> dict[str, Any]:
    return {
        "path": position.file,
        **({} if position.cell is None else {"cell": position.cell[0]}),
        "line": position.line if position.cell is None else position.cell[1],
        "function": position.function,
        "source": position.code,
        "expression": position.text or None,
    }


def _package(package: Package | None) -> dict[str, Any] | None:
    if package is None:
        return None
    return {"name": package.name, "version": package.version, **_position(package.position)}


def _edit(trace: Trace) -> dict[str, Any] | None:
    from devfix.trace.repair.proposal import diff_lines

    proposal = trace.proposal
    if proposal is None:
        return None
    diff = "".join(f"{line}\n" for line in diff_lines(trace.experiment.project, proposal.changes))
    return {
        "title": proposal.title,
        "command": proposal.command,
        "certain": proposal.certain,
        "rules": list(proposal.rules),
        "changed": sorted(proposal.changes),
        "diff": diff,
    }
