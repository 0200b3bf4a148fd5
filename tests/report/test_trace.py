"""What a run showed, as text, JSON and page, from stories that were told before."""

import importlib.resources
import io
import json
import pathlib

import jsonschema
import pytest
from rich.console import Console

from devfix.report.runs import trace as text_report
from devfix.report.runs import trace_json
from devfix.trace.diagnosis.diagnose import diagnose
from devfix.trace.failure_trace_json import read_failure_trace
from devfix.trace.repair.proposal import Proposal
from devfix.trace.tracing import Trace
from devfix.verify.experiment import Experiment
from devfix.verify.project import Project
from devfix.verify.records import Failure, Run

ROOT = pathlib.Path(__file__).parents[2]
STORIES = ROOT / "tests" / "data" / "stories"
SCHEMA = json.loads(importlib.resources.files("devfix").joinpath("schema", "trace-2.json").read_text("utf-8"))
HOSTILE = "<script>alert('x')</script>\x1b[31m"


def traced(folder, name, proposal=None, text=None):
    told = json.loads((STORIES / f"{name}.json").read_text(encoding="utf-8"))
    data = told.pop("story")
    if text is not None:
        told["text"] = text
    run = Run("sim", failure=Failure(**told), story=data, torch="2.13.0", losses=(0.5, float("nan")), steps=2)
    experiment = Experiment(Project(folder, "main.py", "."), ("--lr", "0.1"), "/usr/bin/python3", "sim", why="a reason")
    found = read_failure_trace(run)
    return Trace(experiment, run, found, diagnose(found), proposal or Proposal(title="a reason"))


def shown(trace):
    target = io.StringIO()
    text_report.show(trace, Console(file=target, width=120))
    return target.getvalue()


def test_the_trace_of_a_replaced_head_on_one_screen(tmp_path):
    (tmp_path / "main.py").write_text("a = 1\n")
    text = shown(
        traced(tmp_path, "replaced_head", Proposal({"main.py": b"a = 2\n"}, "move it", "devfix apply main.py"))
    )
    assert "at modeling/resnet.py:25" in text
    assert "✗ self.head[0].weight  float32" in text
    assert "on the CPU  is misplaced, like self.head[0].bias" in text
    assert "attached modeling/heads.py:7" in text
    assert "build_backbone(cfg.width).to(cfg.device)  last moved, to cuda:0" in text
    assert "rule  DEV201 replaced-submodule" in text
    assert "edit  move it: devfix apply main.py" in text
    assert "-a = 1\n+a = 2\n" in text
    assert len(text.splitlines()) < 40


def test_a_package_is_named_with_version_line_and_advice(tmp_path):
    text = shown(traced(tmp_path, "package_table"))
    assert "rotatory 1.4.2" in text
    assert "rotatory/rotary.py:9" in text
    assert "pin or upgrade rotatory" in text
    assert "edit  none, a reason" in text


def test_numpy_has_one_value(tmp_path):
    text = shown(traced(tmp_path, "numpy_of_losses"))
    assert text.count("✗") == 1
    assert "NumPy reads the CPU's memory only" in text


@pytest.mark.parametrize("name", sorted(path.stem for path in STORIES.glob("*.json")))
def test_json_follows_its_schema(tmp_path, name):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    document = json.loads(trace_json.dumps(traced(tmp_path, name)))
    jsonschema.validate(document, SCHEMA)
    assert document["exit_code"] == 1
    assert document["values"][0]["misplaced"]
    assert document["run"]["losses"] == [0.5, "nan"]


def test_a_run_without_device_error(tmp_path):
    experiment = Experiment(Project(tmp_path, "main.py", "."), (), "/usr/bin/python3", "sim")
    trace = Trace(experiment, Run("sim", losses=(0.9, 0.25), steps=2, torch="2.13.0", device_operations=9))
    assert trace.exit_code == 0
    assert "note:" not in shown(trace)
    assert "No device error: the script completed after 2 optimizer steps, 2 losses from 0.9 to 0.25." in shown(trace)
    jsonschema.validate(trace_json.document(trace), SCHEMA)


def ended(folder, **fields):
    """Return the trace of a run that ended with these fields."""
    experiment = Experiment(Project(folder, "main.py", "."), (), "python", "sim")
    return Trace(experiment, Run(**{"device": "sim", "device_operations": 1, **fields}))


def raised(error, text="", file="main.py"):
    return Failure(error, text, None, file, 7 if file else None, None, "Traceback\n")


UNFINISHED = {
    "time": ({"stopped": "time", "has_report": False}, "stopped by the time limit (raise the limit with --timeout)."),
    "memory": (
        {"stopped": "it used more than 256 MB of memory", "has_report": False},
        "stopped because it used more than 256 MB of memory (raise the limit with --memory).",
    ),
    "abort": (
        {"exit_code": -6, "has_report": False},
        "killed by SIGABRT (python -X faulthandler shows the line that crashed).",
    ),
    "SIGTERM": ({"exit_code": -15, "has_report": False}, "killed by SIGTERM."),
    "os._exit(0)": (
        {"has_report": False},
        "exited with code 0 before it finished (os._exit leaves no record: use sys.exit).",
    ),
    "another exception": ({"failure": raised("KeyError", "'lr'")}, "KeyError: 'lr' at main.py:7."),
    "full stop": ({"failure": raised("RuntimeError", "Pass subclasses.", None)}, "RuntimeError: Pass subclasses."),
    "no message": ({"failure": raised("KeyboardInterrupt")}, "KeyboardInterrupt at main.py:7."),
    "no module": (
        {"failure": raised("ModuleNotFoundError", "No module named 'x'")},
        (
            "ModuleNotFoundError: No module named 'x' at main.py:7 (install it, or choose an interpreter that has it "
            "with --python)."
        ),
    ),
    "exit code": ({"exit_code": 3, "output": "3 0.0948\n"}, "ended with exit code 3."),
    "exit text": (
        {"exit_code": 1, "exit_message": "no improvement", "output": "3 0.0948\nno improvement\n"},
        "ended with exit code 1: no improvement.",
    ),
}


@pytest.mark.parametrize("case", UNFINISHED)
def test_an_unfinished_run_says_what_ended_it_and_what_to_do(tmp_path, case):
    fields, ending = UNFINISHED[case]

    trace = ended(tmp_path, **fields)

    assert trace.summary == f"The script did not finish: {ending}"
    assert (trace.exit_code, trace.status) == (2, "unfinished")
    assert "o device error" not in shown(trace)
    document = trace_json.document(trace)
    jsonschema.validate(document, SCHEMA)
    assert (document["status"], document["device_error"], document["exit_code"]) == ("unfinished", False, 2)
    assert document["run"]["recorded"] == trace.run.has_report


def test_the_page_of_an_unfinished_run_does_not_say_that_there_is_no_device_error(tmp_path):
    pytest.importorskip("jinja2")
    from devfix.report.runs import trace_html

    page = trace_html.page(ended(tmp_path, exit_code=-11, has_report=False))

    assert "<title>unfinished: main.py – devfix trace</title>" in page
    assert "killed by SIGSEGV" in page
    assert "o device error" not in page


def test_a_run_that_left_says_what_it_printed_last(tmp_path):
    text = shown(ended(tmp_path, exit_code=2, output="usage: main.py --data DIR\nmain.py: error: --data is required\n"))

    assert "ended with exit code 2: main.py: error: --data is required (pass the script's own arguments" in text
    assert "\n  usage: main.py --data DIR\n" in text


def test_a_script_that_uses_no_accelerator_is_told(tmp_path):
    assert "note: no operation ran on the accelerator" in shown(ended(tmp_path, device_operations=0))


def test_a_device_error_that_the_script_caught_is_one(tmp_path):
    caught = traced(tmp_path, "replaced_head")
    run = Run("sim", caught=caught.run.failure, caught_story=caught.run.story, caught_count=5, caught_in="Process-1")

    trace = Trace(caught.experiment, run, caught.failure, caught.diagnosis, caught.proposal)

    assert (trace.exit_code, trace.status) == (1, "device-error")
    document = trace_json.document(trace)
    jsonschema.validate(document, SCHEMA)
    assert document["caught"] and document["device_error"] and document["cause"]["rule"] == "DEV201"
    assert document["run"]["ok"] and document["run"]["traceback"] == caught.run.failure.traceback
    assert (
        "note: the error was raised in Process-1; the script continued after this error and completed; 5 device errors"
        " were raised in all"
    ) in shown(trace)


def test_child_processes_that_failed_are_named(tmp_path):
    trace = ended(tmp_path, failed_children=(("Process-1", 1), ("Process-2", -11)), output="KeyError: 'x'\n")

    assert trace.exit_code == 2
    assert trace.summary == (
        "The script completed, but a child process failed: Process-1 (ended with exit code 1), Process-2 (killed by "
        "SIGSEGV)."
    )
    assert "  KeyError: 'x'\n" in shown(trace)


def test_nothing_of_the_program_is_obeyed_by_terminal_or_browser(tmp_path):
    pytest.importorskip("jinja2")
    from devfix.report.runs import trace_html

    trace = traced(tmp_path, "replaced_head", Proposal(title=HOSTILE), text=HOSTILE)
    assert "\x1b" not in shown(trace)
    page = trace_html.page(trace)
    assert page.count("<script") == 1 and "<script>alert" not in page
    assert "\x1b" not in page
    assert "self.head[0].weight" in page
