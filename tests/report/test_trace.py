"""What a run showed, as text, JSON and page, from stories that were told before."""

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
SCHEMA = json.loads((ROOT / "devfix" / "schema" / "trace-2.json").read_text(encoding="utf-8"))
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
    trace = Trace(experiment, Run("sim", losses=(0.9, 0.25), steps=2, torch="2.13.0"))
    assert trace.exit_code == 0
    assert "No device error: it completed after 2 optimizer steps, 2 losses from 0.9 to 0.25." in shown(trace)
    jsonschema.validate(trace_json.document(trace), SCHEMA)


def test_another_error_is_told_as_such(tmp_path):
    failure = Failure("KeyError", "'lr'", None, "main.py", 7, "x['lr']", "Traceback\n")
    trace = Trace(Experiment(Project(tmp_path, "main.py", "."), (), "python", "sim"), Run("sim", failure=failure))
    assert trace.exit_code == 0
    assert "No device error: KeyError: 'lr' at main.py:7 ended it." in shown(trace)


def test_a_run_that_left_says_what_it_printed_last(tmp_path):
    run = Run("sim", exit_code=2, output="usage: main.py --data DIR\nmain.py: error: --data is required\n")
    text = shown(Trace(Experiment(Project(tmp_path, "main.py", "."), (), "python", "sim"), run))
    assert "it ended with exit code 2" in text
    assert "--data is required" in text


def test_nothing_of_the_program_is_obeyed_by_terminal_or_browser(tmp_path):
    pytest.importorskip("jinja2")
    from devfix.report.runs import trace_html

    trace = traced(tmp_path, "replaced_head", Proposal(title=HOSTILE), text=HOSTILE)
    assert "\x1b" not in shown(trace)
    page = trace_html.page(trace)
    assert "<script" not in page
    assert "\x1b" not in page
    assert "self.head[0].weight" in page
