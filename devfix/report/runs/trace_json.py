"""What a run showed, for programs; schema/trace-2.json documents it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from devfix import __version__

if TYPE_CHECKING:
    from devfix.trace.report_facts import Told
    from devfix.trace.story import Happening, Package, Position, Story, Value
    from devfix.trace.tracing import Trace

__all__ = ["SCHEMA_VERSION", "document", "dumps"]

SCHEMA_VERSION = 2


def dumps(trace: Trace) -> str:
    """The document as ASCII text, two spaces deep, with a newline at the end."""
    return json.dumps(document(trace), indent=2) + "\n"


def document(trace: Trace) -> dict[str, Any]:
    """What was shown as dicts, lists, strings and numbers; a loss that is no finite number is a string."""
    experiment, run = trace.experiment, trace.run
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
        "device_error": run.device_error,
        "summary": trace.summary,
        "run": {
            "outcome": run.outcome,
            "ok": run.ok,
            "exit_code": run.exit_code,
            "stopped": run.stopped,
            "steps": run.steps,
            "losses": [loss if math.isfinite(loss) else str(loss) for loss in run.losses],
            "torch": run.torch,
            "output": run.output,
            "traceback": run.failure.traceback if run.failure else None,
        },
        "error": _error(trace.story) if trace.story and run.device_error else None,
        "cause": _cause(trace),
        "values": [_told(told) for told in trace.values],
        "edit": _edit(trace),
    }


def _error(story: Story) -> dict[str, Any]:
    return {
        "type": story.error,
        "message": story.message,
        "family": story.family,
        "operation": story.operation,
        "function": story.function,
        "frames": [_position(frame) for frame in story.frames],
        "package": _package(story.package),
    }


def _cause(trace: Trace) -> dict[str, Any] | None:
    cause = trace.cause
    if cause is None:
        return None
    return {"rule": cause.rule, "sentence": cause.sentence, "package": _package(cause.package)}


def _told(told: Told) -> dict[str, Any]:
    return {
        "name": told.name,
        "misplaced": told.culprit,
        "together_with": list(told.with_it),
        **_value(told.value),
        "facts": [{"kind": fact.kind, "where": fact.where, "text": fact.text} for fact in told.facts],
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


def _event(event: Happening) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "operation": event.operation,
        "device": event.device,
        "index": event.index,
        "before": list(event.before),
        "loader": event.loader,
        "chain": [_position(position) for position in event.chain],
        "package": _package(event.package),
    }


def _position(position: Position) -> dict[str, Any]:
    return {
        "path": position.file,
        **({} if position.place is None else {"cell": position.place[0]}),
        "line": position.line if position.place is None else position.place[1],
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
