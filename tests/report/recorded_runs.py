"""Runs that were recorded before: a failure with its timeline, and a device map."""

import json
import pathlib
import shutil

from devfix.trace.device_map.rows import read_map
from devfix.trace.device_map.survey import Survey
from devfix.trace.diagnosis.diagnose import diagnose
from devfix.trace.failure_trace_json import read_failure_trace
from devfix.trace.repair.proposal import Proposal
from devfix.trace.timeline import read_timeline
from devfix.trace.tracing import Trace
from devfix.verify.experiment import Experiment
from devfix.verify.project import Project
from devfix.verify.records import Failure, Run

ROOT = pathlib.Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
GROWN_TOWER = ROOT / "corpus" / "replaced_submodule" / "append_layers" / "broken" / "grow.py"


def recorded_trace(folder, change=lambda timeline: timeline):
    """Return the trace of ``grow.py``, a copy of which is in the folder; ``change`` edits its timeline as JSON."""
    shutil.copy(GROWN_TOWER, folder)
    told = json.loads((DATA / "timelines" / "grown_tower.json").read_text(encoding="utf-8"))
    story, timeline = told.pop("story"), change(told.pop("timeline"))
    run = Run("sim", failure=Failure(**told), story=story, timeline=timeline, torch="2.13.0")
    project = Project(folder, "grow.py", ".")
    failure = read_failure_trace(run, project.shown)
    edited = GROWN_TOWER.read_bytes().replace(b'print("depth', b'model.to(device)\nprint("depth')
    proposal = Proposal({"grow.py": edited}, "move the model again after the change", "devfix apply grow.py")
    experiment = Experiment(project, (), "/usr/bin/python3", "sim")
    return Trace(experiment, run, failure, diagnose(failure), proposal, read_timeline(run, project.shown))


def recorded_map(folder, change=lambda data: data):
    """Return the device map of a small program with two misplaced objects; ``change`` edits it as JSON."""
    told = json.loads((DATA / "maps" / "linear_and_list.json").read_text(encoding="utf-8"))
    run = Run("sim", map=change(told["map"]), steps=told["steps"], torch=told["torch"], ended_early=True)
    experiment = Experiment(Project(folder, "train.py", "."), (), "/usr/bin/python3", "sim")
    return Survey(experiment, run, read_map(run))
