"""One run of a script under the probe, in a scratch copy of its project.

``python -m devfix.verify.runs prove ORIGINAL_DIR PATCHED_DIR SCRIPT [ARGS]`` prints the verdict and the losses;
``... run DIR SCRIPT [ARGS]`` prints one run on the CPU and one on the simulated accelerator.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from devfix.verify import outputs
from devfix.verify.notebooks import RunnableScript
from devfix.verify.probe import report_file
from devfix.verify.probe.supervisor import DEFAULT_DISK_MB, DEFAULT_PROCESSES, Limits
from devfix.verify.records import Failure, Phase, Run, RunError, Steps, format_position
from devfix.verify.sandbox import (
    DEFAULT_SIZE_LIMIT,
    CopyError,
    ProjectTooLarge,
    Scratch,
    UnsafeChange,
    clean_environment,
    file_view,
    link_into_home,
    overlay,
    scratch_copy,
    withheld_path,
)
from devfix.verify.servers import SIMULATOR, ServerDied, execute
from devfix.verify.torchrun import torchrun_environment

__all__ = ["DEFAULT_MEMORY_MB", "DEFAULT_TIMEOUT", "run"]

DEFAULT_TIMEOUT = 120.0
DEFAULT_MEMORY_MB = 8192

#: Characters of ``Run.output``.
_OUTPUT_LIMIT = 64 << 10

#: Report keys that are fields of :class:`Run` under the same name.
_COPIED = [
    "caught_in",
    "caught_count",
    "caught_story",
    "exit_message",
    "steps",
    "parameters",
    "changed",
    "update",
    "trained_digest",
    "frozen",
    "rest_of_recipe",
    "digest",
    "random",
    "wall",
    "memory_mb",
    "device_operations",
    "all_operations",
    "device_seedings",
    "updates_on_cpu",
    "matmul_precision",
    "gradients_from_cpu",
    "host_operations",
    "host_reads",
    "host_returns",
    "rest_of_phases",
    "replaced",
    "ended_early",
    "precision",
    "torch",
    "story",
    "map",
    "timeline",
]


def _with_user_paths(text: str, scratch: Scratch) -> str:
    """Return a text with the paths that the user knows: relative to the project, and to the home folder as ``~``."""
    return text.replace(str(scratch.project) + os.sep, "").replace(str(scratch.home) + os.sep, "~/")


def _failure(found: dict[str, Any] | None, scratch: Scratch) -> Failure | None:
    if not found:
        return None
    frame = found.get("frame") or {}
    file = frame.get("file")
    return Failure(
        type=found["type"],
        text=_with_user_paths(found["text"], scratch),
        family=found["family"],
        file=os.path.relpath(file, scratch.project) if file else None,
        line=frame.get("line"),
        code=frame.get("code"),
        traceback=_with_user_paths(found["traceback"], scratch),
        place=frame.get("place"),
    )


def _exit_where(frame: dict[str, Any] | None, scratch: Scratch) -> str:
    if frame is None:
        return ""
    return format_position(os.path.relpath(frame["file"], scratch.project), frame["line"], frame.get("place"))


def _exit_code(status: int) -> int:
    if os.WIFSIGNALED(status):
        return -os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def run(
    script: str,
    args: Sequence[str] = (),
    device: str = "sim",
    cwd: Path | str = ".",
    timeout: float = DEFAULT_TIMEOUT,
    memory_mb: int = DEFAULT_MEMORY_MB,
    python: str = sys.executable,
    *,
    max_steps: int | None = None,
    devices: int = 1,
    module: bool = False,
    env: dict[str, str] | None = None,
    size_limit: int = DEFAULT_SIZE_LIMIT,
    disk_mb: int = DEFAULT_DISK_MB,
    processes: int = DEFAULT_PROCESSES,
    setup: Sequence[str] | None = None,
    setup_script: str | None = None,
    setup_device: str | None = None,
    start: str = ".",
    changes: Mapping[str, bytes] | None = None,
    keep: bool = False,
    float64: bool = False,
    frozen: Sequence[str] = (),
    kind: str = "cuda",
    torchrun: bool = False,
    compiled: bool = False,
    provenance: bool = False,
    device_map: bool = False,
    timeline: bool = False,
    allow_read: Sequence[str] = (),
    unobserved: bool = False,
    fast_clocks: bool = False,
    held: bool = False,
) -> Run:
    """Run a script in a scratch copy of its project.

    Args:
        script: the script's path within the project, or with ``module`` a module's name.
        args: its arguments.
        device: ``cpu`` hides accelerators, ``sim`` simulates one, ``unchecked`` simulates one without device checks;
            ``cuda``, ``mps`` and ``xpu`` are real devices with deterministic kernels and random numbers from the CPU.
        cwd: the project's folder; the run's working directory is its copy.
        timeout: seconds after which the run is killed.
        memory_mb: limit on its memory.
        python: the interpreter; it needs torch, not devfix.
        max_steps: end the run after this many optimizer steps.
        devices: number of simulated devices.
        module: run ``python -m script``.
        env: environment variables to add.
        size_limit: limit on the size of the copied folder, in bytes.
        disk_mb: limit on the size of the run's folder, its project copy included.
        processes: limit on the number of its processes.
        setup: arguments of a preparatory run in the same copy, which writes the checkpoint that the script loads.
        setup_script: the script of that run; default ``script``.
        setup_device: the device of that run; default ``device``.
        start: the run's working directory within the project, or an absolute path outside it, which is not copied;
            ``script`` is relative to the project in both cases.
        changes: new contents of files of the copy, by their path within the project.
        keep: do not delete the scratch copy; ``Run.scratch`` is its path.
        float64: compute in float64 whatever dtype the script uses.
        frozen: parameters to freeze, by their ``Run.forgotten_keys`` in another run.
        kind: the type of the simulated device.
        torchrun: set torchrun's environment variables for a single process that uses the last device.
        compiled: leave ``torch.compile`` on.
        provenance: record the origin of each tensor, and report the origins of the failing values.
        device_map: record the device of every tensor, and end the run after the first steps; implies ``provenance``.
        timeline: record when tensors exist, with their devices and sizes; implies ``provenance``.
        allow_read: files and folders that the run may read, although they are hidden or not copied by default.
        unobserved: run on the CPU without recording anything but the outputs.
        fast_clocks: let the clocks of the ``time`` module run faster, so that no measured time is reproduced by chance.
        held: give the run the time of day, and the sources of random seeds, of every other run that is held.

    Raises:
        RunError: the run could not be made.

    """
    project = Path(cwd).resolve()
    if not module and not (project / script).is_file() and script not in (changes or {}):
        raise RunError(f"{project / script}: no such file or folder; check the spelling")
    stages = [(setup_script or script, setup, setup_device or device)] if setup is not None else []
    stages.append((script, args, device))
    options = [] if max_steps is None else ["--max-steps", str(max_steps)]
    options += ["--devices", str(devices), "--kind", kind, *(["-m"] if module else [])]
    options += [*(["--compile"] if compiled else []), *(["--float64"] if float64 else [])]
    options += [*(["--provenance"] if provenance else []), *(["--map"] if device_map else [])]
    options += ["--timeline"] if timeline else []
    options += ["--freeze", " ".join(frozen)] if frozen else []
    options += [*(["--unobserved"] if unobserved else []), *(["--fast-clocks"] if fast_clocks else [])]
    options += ["--held"] if held else []
    environment = {**(torchrun_environment(devices - 1) if torchrun else {}), **(env or {})}
    limits = Limits(timeout, memory_mb, disk_mb, processes)
    try:
        with scratch_copy(project, size_limit, keep, allow_read) as copy:
            overlay(copy.project, changes or {})
            link_into_home(copy.home, allow_read)
            before = outputs.snapshot(_output_folders(copy))  # what a setup run writes counts as well
            printed = outputs.Captured("")
            for stage_script, stage_args, stage_device in stages:
                named = stage_script if module else _script_argument(stage_script, start, copy.project)
                notebook = RunnableScript.prepare(copy, stage_script)
                argv = [*options, *notebook.options, "--device", stage_device, "--", named, *stage_args]
                result, printed = _stage(
                    project, copy, argv, stage_device, limits, python, environment, start, notebook, allow_read
                )
                if not result.ok:
                    break
            first = stages[0][2] if setup is not None else None
            produced = outputs.collect(before, printed)
            result = replace(result, held=held)
            return replace(result, outputs=produced, setup_device=first, scratch=str(copy.project) if keep else None)
    except (CopyError, ServerDied, ProjectTooLarge, UnsafeChange) as error:
        raise RunError(str(error)) from error
    except OSError as error:  # a full disk, or a deleted scratch folder
        raise RunError(f"{script} could not be run in a copy of {project}: {error}") from error


def _output_folders(scratch: Scratch) -> dict[str, Path]:
    """Return the folders in which a run may leave files, by the prefix of their names in reports."""
    return {"": scratch.project, "/tmp/": scratch.folder / "tmp", "~/": scratch.home}


def _script_argument(script: str, start: str, copy: Path) -> str:
    """Return the script's path relative to the working directory ``start``."""
    return str(copy / script) if os.path.isabs(start) else os.path.relpath(script, start)


def _stage(
    project: Path,
    scratch: Scratch,
    argv: list[str],
    device: str,
    limits: Limits,
    python: str,
    env: dict[str, str],
    start: str,
    notebook: RunnableScript,
    allow_read: Sequence[str],
) -> tuple[Run, outputs.Captured]:
    """Run the probe once in a scratch copy; return its report and what it printed."""
    working = Path(start) if os.path.isabs(start) else None
    files = file_view(scratch.folder, scratch.home, project, scratch.project, working, allow_read)
    locations = ["--root", str(scratch.project), "--copy-of", str(project), "--simulator", str(SIMULATOR)]
    with tempfile.NamedTemporaryFile(prefix="report-") as handle:  # outside the folder that the run may write
        nonce = report_file.prepare(handle)
        process = execute(
            python,
            [*locations, *argv],
            scratch.project / start,
            clean_environment(scratch, env),
            files,
            Path(handle.name),
            limits,
        )
        report = report_file.read(handle, nonce) if process.stopped is None else {}
        report = notebook.add_cell_positions(report)
    exit_code = int(report["exit_code"]) if report else _exit_code(process.status)
    printed = process.printed.mapped(lambda text: _with_user_paths(notebook.name_cells(text), scratch))
    message = (report.get("exception") or {}).get("text", "")
    run = Run(
        device=device,
        failure=_failure(report.get("exception"), scratch),
        caught=_failure(report.get("caught"), scratch),
        left_out=scratch.left_out,
        withheld=withheld_path(message, project, start, scratch.project, scratch.home, allow_read),
        exit_code=exit_code if process.stopped is None else 0,
        failed_children=tuple((name, code) for name, code in report.get("failed_children", ())),
        exit_where=_exit_where(report.get("exit_frame"), scratch),
        losses=tuple(report.get("losses", ())),
        optimizers=tuple(report.get("optimizers", ())),
        forgotten=tuple(tuple(shape) for shape in report.get("forgotten", ())),
        forgotten_keys=tuple(report.get("forgotten_keys", ())),
        gradients=tuple(tuple(shape) for shape in report.get("gradients", ())),
        work={name: tuple(both) for name, both in report.get("work", {}).items()},
        backward={name: tuple(both) for name, both in report.get("backward", {}).items()},
        updates={name: tuple(both) for name, both in report.get("updates", {}).items()},
        evaluations={name: tuple(both) for name, both in report.get("evaluations", {}).items()},
        others={name: tuple(both) for name, both in report.get("others", {}).items()},
        decided_work=tuple(report.get("decided_work", (0, 0))),
        choices=tuple(report.get("choices", (0, ""))),
        kernel_choice=tuple(report.get("kernel_choice", ())),
        gradient_norms=tuple(report.get("gradient_norms", ())),
        phases=tuple(Phase(*each) for each in report.get("phases", ())),
        module_states=tuple(map(tuple, report.get("module_states", ()))),
        returned=tuple(report.get("returned", ())),
        recipe=tuple(Steps(name, tuple(groups), times) for name, groups, times in report.get("recipe", ())),
        output=(printed.head + printed.tail)[-_OUTPUT_LIMIT:],
        unsupported=tuple(report.get("unsupported", ())),
        stopped=process.stopped,
        exposed=process.exposed,
        has_report=bool(report),
        **{name: report[name] for name in _COPIED if name in report},
    )
    return run, printed


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # By name, because the command imports the proof, which imports this module.
    sys.exit(importlib.import_module("devfix.verify.command").main(sys.argv[1:]))
