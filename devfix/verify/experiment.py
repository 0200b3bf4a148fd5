"""A proof without its patch: script, device and limits; the runs of the original are cached across patches."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from devfix.verify.patches import program_texts
from devfix.verify.probe.supervisor import DEFAULT_DISK_MB
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
    """Limits of each run: seconds, megabytes of memory, optimizer steps (None: no limit), and megabytes of files."""

    timeout: float = DEFAULT_TIMEOUT
    memory_mb: int = DEFAULT_MEMORY_MB
    max_steps: int | None = None
    disk_mb: int = DEFAULT_DISK_MB


@dataclass
class Experiment:
    """A script with its arguments, on a device.

    Attributes:
        project: the script, and the folder that is copied.
        args: its arguments.
        python: the interpreter.
        device: ``sim``, ``cpu`` or the type of a real device.
        limits: of each run.
        setup: arguments of a preparatory run.
        setup_script: the script of that run; None: the script itself.
        keep: do not delete the scratch copies.
        kind: the type of the simulated or real device.
        why: the reason for choosing this device.
        devices: number of simulated devices.
        torchrun: set torchrun's environment variables; set automatically if the script fails without them.
        compiled: leave ``torch.compile`` on.
        allow_read: files and folders that runs may read, although they are hidden or not copied by default.
        report: called with the name of each run when it begins, in any thread.

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
    allow_read: tuple[str, ...] = ()
    report: Callable[[str], None] = field(default=lambda name: None, repr=False)
    _originals: dict[str, Run] = field(default_factory=dict, repr=False)

    def prove(self, changes: Mapping[str, bytes], existing_runs: Mapping[str, Run] | None = None) -> Verdict:
        """Return the verdict on a patch.

        Args:
            changes: new contents of files, by their path within the project.
            existing_runs: runs that were already made with these changes, by name.

        Raises:
            devfix.verify.RunError: a run could not be made.

        """
        verdict = self._prove(changes, existing_runs or {})
        if not self.torchrun and not verdict.good and expects_torchrun(verdict.runs["original/unchecked"]):
            self.torchrun = True
            self._originals.clear()
            verdict = self._prove(changes, {})
        originals = {name: each for name, each in verdict.runs.items() if name.startswith("original/")}
        self._originals.update({name: each for name, each in originals.items() if not each.held})
        return verdict

    def run_with_provenance(
        self, changes: Mapping[str, bytes] | None = None, at_most: float = math.inf, *, timeline: bool = False
    ) -> Run:
        """Run the script once on the device and record the origin of each tensor.

        Args:
            changes: new contents of files, by their path within the project.
            at_most: seconds that the run may take, if less than the limit.
            timeline: record when tensors exist, too.

        Raises:
            devfix.verify.RunError: the run could not be made.

        """
        traced = self._traced_run(changes, at_most, timeline=timeline)
        if not self.torchrun and expects_torchrun(traced):
            self.torchrun = True
            traced = self._traced_run(changes, at_most, timeline=timeline)
        return traced

    def run_once(self, device: str, changes: Mapping[str, bytes] | None, name: str) -> Run:
        """Run the script once on a device.

        Args:
            device: ``sim``, ``unchecked``, ``cpu`` or the type of a real device.
            changes: new contents of files, by their path within the project.
            name: the name of the run, for :attr:`report`.

        Raises:
            devfix.verify.RunError: the run could not be made.

        """
        self.report(name)
        made = self._run(device, device, changes, self.limits.timeout)
        if not self.torchrun and expects_torchrun(made):
            self.torchrun = True
            made = self._run(device, device, changes, self.limits.timeout)
        return made

    def run_for_device_map(self) -> Run:
        """Run the script on the device until the first optimizer steps, and record the device of every tensor.

        Raises:
            devfix.verify.RunError: the run could not be made.

        """
        traced = self._traced_run(None, device_map=True)
        if not self.torchrun and expects_torchrun(traced):
            self.torchrun = True
            traced = self._traced_run(None, device_map=True)
        return traced

    def _traced_run(
        self,
        changes: Mapping[str, bytes] | None,
        at_most: float = math.inf,
        *,
        device_map: bool = False,
        timeline: bool = False,
    ) -> Run:
        self.report("original/device" if changes is None else "patched/device")
        seconds = min(self.limits.timeout, at_most)
        first = "sim" if self.device == "cpu" else self.device
        return self._run(
            self.device, first, changes, seconds, provenance=True, device_map=device_map, timeline=timeline
        )

    def _run(
        self,
        device: str,
        setup_device: str,
        changes: Mapping[str, bytes] | None,
        seconds: float,
        *,
        provenance: bool = False,
        device_map: bool = False,
        timeline: bool = False,
    ) -> Run:
        return run(
            self.project.module or self.project.script,
            self.args,
            device,
            self.project.original,
            seconds,
            self.limits.memory_mb,
            self.python,
            max_steps=self.limits.max_steps,
            devices=self.devices,
            module=self.project.module is not None,
            setup=self.setup,
            setup_script=self.setup_script,
            setup_device=setup_device,
            start=self.project.start,
            changes=changes,
            keep=self.keep,
            kind=self.kind,
            torchrun=self.torchrun,
            compiled=self.compiled,
            disk_mb=self.limits.disk_mb,
            allow_read=self.allow_read,
            provenance=provenance,
            device_map=device_map,
            timeline=timeline,
        )

    def _prove(self, changes: Mapping[str, bytes], existing_runs: Mapping[str, Run]) -> Verdict:
        return prove(
            self.project.original,
            self.project.original,
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
            known={**self._originals, **existing_runs},
            module=self.project.module is not None,
            kind=self.kind,
            devices=self.devices,
            torchrun=self.torchrun,
            compiled=self.compiled,
            disk_mb=self.limits.disk_mb,
            allow_read=self.allow_read,
            report=self.report,
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
    allow_read: tuple[str, ...] = (),
) -> Experiment:
    """Return the experiment for a script, with project, interpreter and device detected unless given.

    Args:
        script: the script's path, or with ``module`` a module's name.
        args: its arguments.
        device: one of :data:`devfix.verify.targets.CHOICES`.
        python: the interpreter; default: that of the project's virtual environment, else the current one.
        cwd: the working directory of runs; default: the current one if it belongs to the project.
        folder: the folder to copy; default: the project's.
        module: start as ``python -m`` does.
        devices: number of simulated devices.
        torchrun: start as torchrun does, with one process.
        compiled: leave ``torch.compile`` on.
        limits: of each run.
        setup: arguments of a preparatory run, as one shell word.
        keep: do not delete the scratch copies.
        allow_read: files and folders that runs may read, although they are hidden or not copied by default.

    Raises:
        devfix.verify.RunError: no such script, no torch in the interpreter, or no such device.

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
        allow_read=allow_read,
    )
