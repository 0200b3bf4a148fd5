"""The probe's command line, and one run from its start to its report."""

from __future__ import annotations

import argparse
import atexit
import hashlib
import os
import resource
import sys
import time
import traceback
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from . import conditions, devices, start
from .failures import describe, user_frame
from .integrity import Seal
from .plain import memory
from .recorder import EnoughSteps, Recorder
from .report_file import ReportFile
from .returned import ReturnedValues

__all__ = ["main", "parser", "probe"]


def probe(options: argparse.Namespace) -> dict[str, Any]:
    """Run the script according to the options and return the report."""
    if options.device not in devices.REAL:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import torch

    torch.jit._state.disable()  # compiled TorchScript would not see the simulated device
    torch.set_num_threads(1)
    root = os.path.abspath(options.root or os.getcwd())
    if options.unobserved:
        return _unobserved(options, root)
    recorder = Recorder(options.max_steps, options.freeze.split(), keep_modules=options.device not in devices.REAL)
    returned = ReturnedValues()
    recorder.install()
    unsupported = _set_conditions(options)
    report = {"device": options.device, "torch": torch.__version__}
    with (
        devices.device_for(options) as device,
        devices.precision_for(options),
        _provenance(options, device) as provenance,
    ):
        failures = _failures(provenance, root)
        recorder.device_of = device.device_of
        recorder.phases.ledger = device.work_ledger()
        recorder.survey = survey = _survey(options, provenance)
        recorder.timeline = timeline = _timeline(options, provenance)
        seal = Seal((recorder, recorder.recipe, recorder.trained, recorder.phases, recorder.manual_updates))
        conditions.seed()
        started = time.perf_counter()
        report.update(_execute_script(options, root, provenance, recorder, returned))
        report["wall"] = time.perf_counter() - started
        report.update(failures(report["exception"]))
        report["random"] = hashlib.sha256(memory(torch.random.get_rng_state())).hexdigest()
        report.update(_recorded(recorder, report, root))
        report["replaced"] = seal.broken()
        report["returned"] = returned.results()
        report.update(device.report_fields())
    report["map"] = survey and survey.map
    report["timeline"] = timeline and timeline.data
    problems = [recorder.problem] if recorder.problem else []
    report["unsupported"] = [*report.get("unsupported", ()), *unsupported, *problems]
    report["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return report


def _unobserved(options: argparse.Namespace, root: str) -> dict[str, Any]:
    """Run the script on the CPU, under the conditions of the other runs but without a recorder; return the report."""
    _set_conditions(options)
    with devices.NoDevice():
        conditions.seed()
        ours = (__package__, devices.SIMULATOR, "__mp_main__")
        for name in [each for each in sys.modules if each.partition(".")[0] in ours]:
            del sys.modules[name]
        return _execute_script(options, root, None, None, ReturnedValues())


def _set_conditions(options: argparse.Namespace) -> list[str]:
    """Set equal conditions for all runs; return a list that collects unsupported features during the run."""
    unsupported: list[str] = []
    conditions.use_one_process(options.simulator)
    conditions.use_foreach_optimizers()
    if options.fast_clocks:
        conditions.speed_up_clocks()
    if options.held:
        from . import held_clocks

        held_clocks.hold_clocks(conditions.SPEED if options.fast_clocks else 1)
        held_clocks.hold_entropy()
    if not options.compile:
        conditions.run_compilers_eagerly(options.simulator)
    elif options.device in devices.SIMULATED:  # compiled code bypasses the simulator
        conditions.watch_compiler(lambda name: None if name in unsupported else unsupported.append(name))
    return unsupported


def _provenance(options: argparse.Namespace, device: devices.NoDevice) -> AbstractContextManager[Any]:
    """Return the provenance recorder if the options select it, else a null context; enter it after the device."""
    if not (options.provenance or options.map or options.timeline):
        return nullcontext()
    from .provenance import Frames, Provenance

    frames = Frames(options.root or os.getcwd(), (options.simulator,) if options.simulator else ())
    return Provenance(frames, device.device_of, by_function=options.device == "cpu")


def _failures(provenance: Any, root: str) -> Callable[[Any], dict[str, Any]]:
    """Watch for failures that do not end the run; return a function of its exception that reports them."""
    if provenance is None:
        return lambda exception: {}
    from .provenance import CaughtErrors, Children

    caught, children = CaughtErrors(provenance, root), Children(provenance)

    def report_fields(exception: Any) -> dict[str, Any]:
        return {"failed_children": children.failed(), **caught.report_fields(exception)}

    return report_fields


def _survey(options: argparse.Namespace, provenance: Any) -> Any:
    """Return the survey of the device map if the options select it, else None."""
    if not options.map:
        return None
    from .placement import Survey

    return Survey(provenance, options)


def _timeline(options: argparse.Namespace, provenance: Any) -> Any:
    """Return the timeline's report if the options select it, else None; the timeline begins now."""
    if not options.timeline:
        return None
    from .provenance import Timeline, TimelineReport

    provenance.histories.timeline = timeline = Timeline()
    return TimelineReport(provenance, timeline)


def _execute_script(
    options: argparse.Namespace, root: str, provenance: Any, recorder: Recorder | None, returned: ReturnedValues
) -> dict[str, Any]:
    """Run the script to its end.

    Returns:
        Its ``exception`` or None, its ``exit_code``, the text of ``sys.exit("text")`` as ``exit_message``, the position
        of an exit that is no success as ``exit_frame``, and the origins of the failing values as ``story``.

    """
    exception, exit_code, exit_message, exit_frame, story = None, 0, "", None, None
    weakref.finalize._registry.clear()  # type: ignore[attr-defined]  # those of the process that forked this one
    try:
        start.execute(options, returned)
        _describe_end(recorder)
    except EnoughSteps:
        _describe_end(recorder)
        return {"exception": None, "exit_code": 0, "story": None}
    except SystemExit as stop:
        exit_code = stop.code & 0xFF if isinstance(stop.code, int) else 0 if stop.code is None else 1
        if exit_code != 0 and stop.__context__ is not None:
            exception = describe(stop.__context__, root)
            story = _failure_story(provenance, stop.__context__)
        exit_frame = user_frame(stop, root) if exit_code else None
        _describe_end(recorder, stop.__context__ if exception else None)
        if stop.code is not None and not isinstance(stop.code, int):
            exit_message = str(stop.code)
            print(exit_message, file=sys.stderr)
    except BaseException as error:  # the script's own failure is the result
        exception = describe(error, root)
        story = _failure_story(provenance, error)
        _describe_end(recorder, error)
        traceback.print_exc()
    atexit._run_exitfuncs()  # they print and write results, too
    return {
        "exception": exception,
        "exit_code": exit_code,
        "exit_message": exit_message,
        "exit_frame": exit_frame,
        "story": story,
    }


def _failure_story(provenance: Any, error: BaseException) -> Any:
    if provenance is None:
        return None
    from .provenance import describe_failure

    return describe_failure(provenance, error)


def _describe_end(recorder: Recorder | None, error: BaseException | None = None) -> None:
    """Describe the timeline now, and the devices of all tensors unless they were described before."""
    if recorder is None:
        return
    if recorder.timeline is not None:
        recorder.timeline.at_end(error)
    if recorder.survey is None or recorder.ended_early:
        return
    if error is not None:
        recorder.survey.at_failure(error, recorder.steps)
    else:
        recorder.survey.at_end(recorder.steps)


def _recorded(recorder: Recorder, report: dict[str, Any], root: str) -> dict[str, Any]:
    """Return the recorded results; if they cannot be read, only the losses, the steps and the exception."""
    try:
        return recorder.results()
    except BaseException as error:
        return {
            "exception": report["exception"] or describe(error, root),
            "losses": recorder.losses,
            "steps": recorder.steps,
        }


def parser() -> argparse.ArgumentParser:
    """Return the parser of the probe's command line."""
    made = argparse.ArgumentParser(
        prog="probe",
        description=sys.modules[__package__ or ""].__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--serve", action="store_true", help="fork a run for each request on stdin")
    made.add_argument("--report", type=int, help="file descriptor for the JSON report; it holds the report's nonce")
    made.add_argument("--device", choices=devices.CHOICES, default="sim")
    made.add_argument("--kind", default="cuda", help="type of the simulated device")
    made.add_argument("--devices", type=int, default=1, help="number of simulated devices")
    made.add_argument("--simulator", help="folder of the simulator package")
    made.add_argument("--max-steps", type=int, default=None, help="end the run after this many optimizer steps")
    made.add_argument("--freeze", default="", help="keys of parameters to freeze, separated by spaces")
    made.add_argument("--compile", action="store_true", help="leave torch.compile on")
    made.add_argument("--float64", action="store_true", help="compute in float64 whatever dtype the script uses")
    made.add_argument("--provenance", action="store_true", help="record the origin of each tensor")
    made.add_argument(
        "--map", action="store_true", help="record the device of every tensor after the first steps, then end the run"
    )
    made.add_argument("--timeline", action="store_true", help="record when tensors exist, with their devices and sizes")
    made.add_argument("--unobserved", action="store_true", help="run without recording anything, on the CPU")
    made.add_argument("--fast-clocks", action="store_true", help="let the clocks of the time module run faster")
    made.add_argument("--held", action="store_true", help="give each run the same time of day and the same entropy")
    made.add_argument("--root", help="the project's folder, to recognize frames of the user's code")
    made.add_argument("--copy-of", help="the original of --root, from which nothing is imported")
    made.add_argument("--program", help="JSON file with the cells of SCRIPT, a notebook")
    made.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    made.add_argument("script", nargs="?")
    made.add_argument("arguments", nargs=argparse.REMAINDER)
    return made


def main() -> int:
    """Run one script, or serve."""
    options = parser().parse_args()
    if options.serve:
        from . import forkserver

        forkserver.serve(options)
        return 0
    file = ReportFile(options.report)
    file.take_nonce()
    report = probe(options)
    file.write(report)
    return 1 if report["exception"] else int(report["exit_code"])
