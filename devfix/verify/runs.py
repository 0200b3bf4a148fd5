"""One run of a script.

``python -m devfix.verify.runs prove ORIGINAL_DIR PATCHED_DIR SCRIPT [ARGS]`` prints the verdict and the losses;
``... run DIR SCRIPT [ARGS]`` prints one run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from devfix.verify.notebooks import Exported
from devfix.verify.probe.supervisor import DEFAULT_DISK_MB, DEFAULT_PROCESSES, Limits
from devfix.verify.records import Failure, Run, RunError, Steps
from devfix.verify.sandbox import (
    DEFAULT_SIZE_LIMIT,
    NotCopied,
    ProjectTooLarge,
    Scratch,
    UnsafeChange,
    clean_environment,
    overlay,
    scratch_copy,
)
from devfix.verify.servers import SIMULATOR, ServerDied, execute
from devfix.verify.torchrun import variables

__all__ = ["DEFAULT_MEMORY_MB", "DEFAULT_TIMEOUT", "run"]

DEFAULT_TIMEOUT = 120.0
DEFAULT_MEMORY_MB = 8192

_COPIED = [
    "steps",
    "parameters",
    "changed",
    "update",
    "trained_digest",
    "still",
    "rest_of_recipe",
    "digest",
    "random",
    "wall",
    "memory_mb",
    "device_operations",
    "all_operations",
    "device_training",
    "all_training",
    "ended_early",
    "precision",
    "torch",
    "story",
    "map",
]


def _failure(report: dict[str, Any], inside: Path) -> Failure | None:
    found = report.get("exception")
    if not found:
        return None
    frame = found.get("frame") or {}
    file = frame.get("file")
    return Failure(
        type=found["type"],
        text=found["text"].replace(str(inside) + os.sep, ""),
        family=found["family"],
        file=os.path.relpath(file, inside) if file else None,
        line=frame.get("line"),
        code=frame.get("code"),
        traceback=found["traceback"].replace(str(inside) + os.sep, ""),
        place=frame.get("place"),
    )


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
    still: Sequence[str] = (),
    kind: str = "cuda",
    torchrun: bool = False,
    compiled: bool = False,
    provenance: bool = False,
    place_map: bool = False,
) -> Run:
    """Run a script of a project in a scratch copy of it.

    Args:
        script: the script's path within the project, or with ``module`` a module's name.
        args: its arguments.
        device: ``cpu`` hides accelerators, ``sim`` simulates one, ``unchecked`` simulates one that never complains,
            ``cuda``, ``mps`` and ``xpu`` are real devices with exact arithmetic and random numbers from the CPU.
        cwd: the project's folder; the run's working directory is the copy of it.
        timeout: seconds after which the run is killed.
        memory_mb: limit on its memory.
        python: the interpreter, which needs torch (and not devfix).
        max_steps: end the run after this many optimizer steps.
        devices: number of simulated devices.
        module: run ``python -m script``.
        env: variables to add.
        size_limit: bytes above which the project is not copied.
        disk_mb: limit on what lies in the run's folder, its copy included.
        processes: limit on the number of its processes.
        setup: run the script first with these arguments, in the same copy: to write the checkpoint that it then loads.
        setup_script: what that run executes; default ``script``.
        setup_device: where that run works; default ``device``.
        start: the run's working directory within the project, or an absolute path outside of it, which is not
            copied; ``script`` is relative to the project all the same.
        changes: new contents of files of the copy, by their path within the project.
        keep: leave the scratch copy behind; ``Run.kept`` names it.
        float64: compute in float64 whatever type the script names.
        still: parameters that no optimizer step is to change, by what ``Run.forgotten_keys`` of another run says.
        kind: the device type that is simulated.
        torchrun: set the variables that torchrun sets for its only process; it is told to use the last device.
        compiled: leave ``torch.compile`` on.
        provenance: note where values come from, and tell the story of a failure.
        place_map: note where everything lives, and end the run after the first steps; implies ``provenance``.

    Raises:
        RunError: the run could not be made.

    """
    project = Path(cwd).resolve()
    if not module and not (project / script).is_file() and script not in (changes or {}):
        raise RunError(f"{project / script} does not exist")
    stages = [(setup_script or script, setup, setup_device or device)] if setup is not None else []
    stages.append((script, args, device))
    options = [] if max_steps is None else ["--max-steps", str(max_steps)]
    options += ["--devices", str(devices), "--kind", kind, *(["-m"] if module else [])]
    options += [*(["--compile"] if compiled else []), *(["--float64"] if float64 else [])]
    options += [*(["--provenance"] if provenance else []), *(["--map"] if place_map else [])]
    options += ["--still", " ".join(still)] if still else []
    given = {**(variables(devices - 1) if torchrun else {}), **(env or {})}
    limits = Limits(timeout, memory_mb, disk_mb, processes)
    try:
        with scratch_copy(project, size_limit, keep) as scratch:
            overlay(scratch.project, changes or {})
            for stage_script, stage_args, stage_device in stages:
                named = stage_script if module else _named(stage_script, start, scratch.project)
                notebook = Exported.of(scratch, stage_script)
                argv = [*options, *notebook.options, "--device", stage_device, "--", named, *stage_args]
                result = _stage(project, scratch, argv, stage_device, limits, python, given, start, notebook)
                if not result.ok:
                    break
            first = stages[0][2] if setup is not None else None
            return replace(result, prepared_on=first, kept=str(scratch.project) if keep else None)
    except (NotCopied, ServerDied, ProjectTooLarge, UnsafeChange) as error:
        raise RunError(str(error)) from error
    except OSError as error:  # a full disk, or a scratch folder that somebody cleans up
        raise RunError(f"{script} could not be run in a copy of {project}: {error}") from error


def _named(script: str, start: str, copy: Path) -> str:
    """The script's path as one who stands in ``start`` writes it."""
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
    notebook: Exported,
) -> Run:
    """Run the probe once in a scratch copy and read its report."""
    report_path = scratch.folder / f"report-{uuid.uuid4().hex}"
    where = ["--report", str(report_path), "--root", str(scratch.project), "--copy-of", str(project)]
    where += ["--simulator", str(SIMULATOR)]
    with open(report_path, "xb+") as handle:
        ended = execute(
            python,
            [*where, *argv],
            scratch.project / start,
            clean_environment(scratch, env),
            scratch.folder,
            report_path,
            limits,
        )
        report = notebook.located(_read_report(handle, report_path)) if ended.stopped is None else {}
    exit_code = int(report["exit_code"]) if report else _exit_code(ended.status)
    return Run(
        device=device,
        failure=_failure(report, scratch.project),
        exit_code=exit_code if ended.stopped is None else 0,
        losses=tuple(report.get("losses", ())),
        optimizers=tuple(report.get("optimizers", ())),
        forgotten=tuple(tuple(shape) for shape in report.get("forgotten", ())),
        forgotten_keys=tuple(report.get("forgotten_keys", ())),
        gradients=tuple(tuple(shape) for shape in report.get("gradients", ())),
        recipe=tuple(Steps(name, groups and tuple(groups), times) for name, groups, times in report.get("recipe", ())),
        output=notebook.in_cells(ended.output).replace(str(scratch.project) + os.sep, ""),
        unsupported=tuple(report.get("unsupported", ())),
        stopped=ended.stopped,
        exposed=ended.exposed,
        reported=bool(report),
        **{name: report[name] for name in _COPIED if name in report},
    )


def _read_report(handle: BinaryIO, path: Path) -> dict[str, Any]:
    """The report, which a fresh interpreter writes anew under the same name; empty if there is none."""
    text = handle.read()
    with suppress(OSError):
        text = text or path.read_bytes()
    try:
        return dict(json.loads(text)) if text else {}
    except ValueError:  # the script may do anything, also to the file that holds the report
        return {}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from devfix.verify.command import main

    sys.exit(main(sys.argv[1:]))
