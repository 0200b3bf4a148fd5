"""Everything of a proof but the patch: the runs of the original are made once, whatever is tried on it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from devfix.verify.patches import program_texts
from devfix.verify.project import Project, find_project, find_python
from devfix.verify.proof import prove
from devfix.verify.records import Run
from devfix.verify.runs import DEFAULT_MEMORY_MB, DEFAULT_TIMEOUT, run
from devfix.verify.targets import choose_target
from devfix.verify.torchrun import expects_torchrun
from devfix.verify.verdict import Verdict

__all__ = ["Experiment", "Limits", "prepare"]


@dataclass(frozen=True)
class Limits:
    """What each run may take: seconds, megabytes, optimizer steps (None: as many as it wants)."""

    timeout: float = DEFAULT_TIMEOUT
    memory_mb: int = DEFAULT_MEMORY_MB
    max_steps: int | None = None


@dataclass
class Experiment:
    """A script with its arguments, on a device.

    Attributes:
        project: the script, and the folder that is copied.
        args: its arguments.
        python: the interpreter.
        device: ``sim``, ``cpu`` or the type of a real device.
        limits: of each run.
        setup: arguments of a run that comes first.
        setup_script: what that run executes; None: the script.
        keep: leave the scratch copies behind.
        kind: the device type that is simulated, or that a real device has.
        why: why this device.
        devices: how many devices are simulated.
        torchrun: start the script with the variables that torchrun sets; found out where a script asks for them.
        compiled: leave ``torch.compile`` on.

    """

    project: Project
    args: tuple[str, ...]
    python: str
    device: str
    limits: Limits = Limits()
    setup: tuple[str, ...] | None = None
    keep: bool = False
    kind: str = "cuda"
    why: str = ""
    devices: int = 1
    torchrun: bool = False
    compiled: bool = False
    setup_script: str | None = None
    _originals: dict[str, Run] = field(default_factory=dict, repr=False)

    def prove(self, changes: Mapping[str, bytes], made: Mapping[str, Run] | None = None) -> Verdict:
        """The verdict on new contents of files, by their path within the project.

        Args:
            changes: the new contents.
            made: runs with these changes that were made already, by name.

        Raises:
            devfix.verify.RunError: a run could not be made.

        """
        verdict = self._prove(changes, made or {})
        if not self.torchrun and not verdict.good and expects_torchrun(verdict.runs["original/unchecked"]):
            self.torchrun = True
            self._originals.clear()
            verdict = self._prove(changes, {})
        self._originals.update({name: each for name, each in verdict.runs.items() if name.startswith("original/")})
        return verdict

    def watched(self, changes: Mapping[str, bytes] | None = None, at_most: float = math.inf) -> Run:
        """One run of the script on the device that notes where values come from, with new contents of files.

        Args:
            changes: the new contents.
            at_most: seconds that the run may take, where that is less than the limit.

        Raises:
            devfix.verify.RunError: the run could not be made.

        """
        done = self._watched(changes, at_most)
        if not self.torchrun and expects_torchrun(done):
            self.torchrun = True
            done = self._watched(changes, at_most)
        return done

    def mapped(self) -> Run:
        """One run of the script on the device that notes where everything lives, and ends after the first steps.

        Raises:
            devfix.verify.RunError: the run could not be made.

        """
        done = self._watched(None, place_map=True)
        if not self.torchrun and expects_torchrun(done):
            self.torchrun = True
            done = self._watched(None, place_map=True)
        return done

    def _watched(self, changes: Mapping[str, bytes] | None, at_most: float = math.inf, place_map: bool = False) -> Run:
        return run(
            self.project.module or self.project.script,
            self.args,
            self.device,
            self.project.root,
            min(self.limits.timeout, at_most),
            self.limits.memory_mb,
            self.python,
            max_steps=self.limits.max_steps,
            devices=self.devices,
            module=self.project.module is not None,
            setup=self.setup,
            setup_script=self.setup_script,
            setup_device="sim" if self.device == "cpu" else self.device,
            start=self.project.start,
            changes=changes,
            keep=self.keep,
            kind=self.kind,
            torchrun=self.torchrun,
            compiled=self.compiled,
            provenance=True,
            place_map=place_map,
        )

    def _prove(self, changes: Mapping[str, bytes], made: Mapping[str, Run]) -> Verdict:
        return prove(
            self.project.root,
            self.project.root,
            self.project.module or self.project.script,
            self.args,
            timeout=self.limits.timeout,
            memory_mb=self.limits.memory_mb,
            max_steps=self.limits.max_steps,
            python=self.python,
            setup=self.setup,
            setup_script=self.setup_script,
            run_on=self.device,
            start=self.project.start,
            changes=changes,
            keep=self.keep,
            known={**self._originals, **made},
            module=self.project.module is not None,
            kind=self.kind,
            devices=self.devices,
            torchrun=self.torchrun,
            compiled=self.compiled,
        )


def prepare(
    script: str,
    args: tuple[str, ...] = (),
    *,
    device: str = "auto",
    python: str | None = None,
    cwd: str | None = None,
    folder: str | None = None,
    module: bool = False,
    devices: int = 1,
    torchrun: bool = False,
    compiled: bool = False,
    limits: Limits = Limits(),
    setup: str | None = None,
    keep: bool = False,
) -> Experiment:
    """Look at what is there, and choose what was not said.

    Args:
        script: the script's path, or with ``module`` a module's name.
        args: its arguments.
        device: one of :data:`devfix.verify.targets.CHOICES`.
        python: the interpreter; default: of the project's virtual environment, else ours.
        cwd: the folder that runs start in; default: the current one where it belongs to the project.
        folder: the folder that is copied; default: the project's.
        module: start as ``python -m`` does.
        devices: how many devices are simulated.
        torchrun: start as torchrun does, with one process.
        compiled: leave ``torch.compile`` on.
        limits: for each run.
        setup: arguments of a run that comes first, as one shell word.
        keep: leave the scratch copies behind.

    Raises:
        devfix.verify.RunError: no such script, no torch in the interpreter, no such device.

    """
    project = find_project(script, cwd, folder, module=module)
    interpreter = find_python(project, python)
    target = choose_target(device, interpreter, program_texts(project))
    return Experiment(
        project,
        args,
        interpreter,
        target.run_on,
        limits,
        None if setup is None else tuple(shlex.split(setup)),
        keep,
        target.kind,
        target.why,
        devices,
        torchrun,
        compiled,
    )
