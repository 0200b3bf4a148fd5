"""What the heads of pages about runs have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devfix.verify.result import describe_device

if TYPE_CHECKING:
    from devfix.verify.experiment import Experiment

__all__ = ["run_facts", "run_title"]


def run_title(experiment: Experiment) -> str:
    """Return the script with its arguments."""
    return " ".join((experiment.project.script, *experiment.args))


def run_facts(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """Return the device and the interpreter, with their names."""
    return (("Device", describe_device(experiment)), ("Interpreter", experiment.python))
