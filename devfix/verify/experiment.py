"""Everything of a proof but the patch: the runs of the original are made once, whatever is tried on it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from devfix.verify.project import Project, choose_device, find_project, find_python
from devfix.verify.proof import Verdict, prove
from devfix.verify.runs import DEFAULT_MEMORY_MB, DEFAULT_TIMEOUT, Run

__all__ = ["Experiment", "Limits", "prepare"]


@dataclass(frozen=True)
class Limits:
    """What each run may take: seconds, megabytes, optimizer steps (None: as many as it wants)."""

    timeout: float = DEFAULT_TIMEOUT
    memory_mb: int = DEFAULT_MEMORY_MB
    max_steps: int | None = None


@dataclass
class Experiment:
    """A script with its arguments, on a device (``sim``, ``cuda`` or ``cpu``)."""

    project: Project
    args: tuple[str, ...]
    python: str
    device: str
    limits: Limits = Limits()
    setup: tuple[str, ...] | None = None
    keep: bool = False
    _originals: dict[str, Run] = field(default_factory=dict, repr=False)

    def prove(self, changes: Mapping[str, bytes]) -> Verdict:
        """The verdict on new contents of files, by their path within the project.

        Raises:
            devfix.verify.RunError: a run could not be made.

        """
        verdict = prove(
            self.project.root,
            self.project.root,
            self.project.script,
            self.args,
            timeout=self.limits.timeout,
            memory_mb=self.limits.memory_mb,
            max_steps=self.limits.max_steps,
            python=self.python,
            setup=self.setup,
            run_on=self.device,
            start=self.project.start,
            changes=changes,
            keep=self.keep,
            known=self._originals,
        )
        self._originals.update({name: each for name, each in verdict.runs.items() if name.startswith("original/")})
        return verdict


def prepare(
    script: str,
    args: tuple[str, ...] = (),
    *,
    device: str = "auto",
    python: str | None = None,
    cwd: str | None = None,
    limits: Limits = Limits(),
    setup: str | None = None,
    keep: bool = False,
) -> Experiment:
    """Look at what is there, and choose what was not said.

    Args:
        script: the script's path.
        args: its arguments.
        device: ``auto``, ``sim``, ``cuda`` or ``cpu``.
        python: the interpreter; default: of the project's virtual environment, else ours.
        cwd: the folder that is copied and that runs start in; default: the project's, and the current folder.
        limits: for each run.
        setup: arguments of a run that comes first, as one shell word.
        keep: leave the scratch copies behind.

    Raises:
        devfix.verify.RunError: no such script, no torch in the interpreter, no such device.

    """
    project = find_project(script, cwd)
    interpreter = find_python(project, python)
    first = None if setup is None else tuple(shlex.split(setup))
    return Experiment(project, args, interpreter, choose_device(device, interpreter), limits, first, keep)
