"""The timeline of a run: what is recorded of each value, within bounds, and without an effect on the run."""

import pytest
import torch

from devfix.trace.timeline import read_timeline
from devfix.verify.probe.provenance import Frames, Provenance, Timeline, timeline
from devfix.verify.runs import run

PROGRAM = """\
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x = torch.ones(8, 4)
    loss = net(x.to(device)).sum()
    loss.backward()
    optimizer.step()
"""


def traced(folder, program, **options):
    (folder / "main.py").write_text(program, encoding="utf-8")
    return run("main.py", cwd=folder, provenance=True, timeline=True, **options)


def labelled(found, label):
    return [stay for stay in found.stays if stay.label == label]


@pytest.mark.positions
def test_a_value_is_created_moved_used_and_freed(tmp_path):
    found = read_timeline(traced(tmp_path, PROGRAM))

    sources, moved = labelled(found, "torch.ones(8, 4)"), labelled(found, "x.to(device)")
    assert [(stay.kind, stay.device, stay.bytes, stay.shape) for stay in sources][:1] == [
        ("created", "cpu", 128, (8, 4)),
    ]
    assert [(stay.kind, stay.device) for stay in moved] == [("moved", "cuda:0")] * 3
    first = moved[0]
    assert first.predecessors and first.first_use is not None and first.first_use.index > first.index
    assert str(first.first_use.stack[0]) == "main.py:9"
    assert first.end is not None and first.time <= first.first_use.time <= first.end[0] <= found.duration


def test_parameters_have_names_and_came_with_their_module(tmp_path):
    found = read_timeline(traced(tmp_path, PROGRAM))

    (weight,) = labelled(found, "net.weight")
    assert (weight.kind, weight.device, weight.by_module, weight.end) == ("moved", "cuda:0", True, None)
    assert [step.number for step in found.steps] == [1, 2, 3]
    assert found.failure is None and found.omitted == 0


def test_bytes_are_those_of_the_values_that_exist(tmp_path):
    found = read_timeline(traced(tmp_path, PROGRAM))

    last = found.samples[-1]
    for device in found.devices:
        expected = sum(stay.bytes for stay in found.stays if stay.device == device and stay.end is None)
        assert last.stored.get(device, 0) + last.computed.get(device, 0) == expected


def test_a_failure_knows_its_operands(tmp_path):
    found = read_timeline(traced(tmp_path, PROGRAM.replace("x.to(device)", "x")))

    by_index = {stay.index: stay for stay in found.stays}
    assert {by_index[each].label for each in found.failure.operands} >= {"x", "net.weight"}
    assert found.failure.time >= max(stay.time for stay in found.stays)


def test_a_script_that_is_stopped_after_its_steps_has_a_timeline(tmp_path):
    found = read_timeline(traced(tmp_path, PROGRAM, max_steps=1))

    assert [step.number for step in found.steps] == [1]
    assert labelled(found, "loss")


def test_the_run_is_the_same_with_and_without_a_timeline(tmp_path):
    with_it = traced(tmp_path, PROGRAM)
    without = run("main.py", cwd=tmp_path, provenance=True)

    assert (with_it.losses, with_it.digest, with_it.random) == (without.losses, without.digest, without.random)
    assert without.timeline is None


@pytest.fixture
def recording(tmp_path, monkeypatch):
    monkeypatch.setattr(timeline, "_KEPT", {"created": (4, 3), "loaded": (1, 1), "moved": (2, 2), "computed": (5, 0)})
    monkeypatch.setattr(timeline, "_MAX_SAMPLES", 16)
    provenance = Provenance(Frames(str(tmp_path)), lambda tensor: str(tensor.device))
    provenance.histories.timeline = Timeline()
    with provenance:
        yield provenance.histories.timeline


def test_the_record_is_bounded(recording):
    for _ in range(200):
        torch.zeros(3).add(1).mul(2)

    kinds = [stay.node.kind for stay in recording.stays()]
    assert (kinds.count("created"), kinds.count("computed")) == (7, 5)
    assert recording.omitted == 600 - 12
    assert len(recording.samples) < 16
    assert len(recording._alive) <= 2, "freed values are forgotten"


def test_computed_values_are_no_longer_counted_once_they_are_not_recorded(recording):
    for _ in range(20):
        torch.zeros(3).add(1)
    recording.finish()

    assert recording.samples[0].computed is not None
    assert recording.samples[-1].computed is None
    assert recording.samples[-1].stored == {"cpu": 0}


def test_the_memory_of_a_view_counts_once(recording):
    kept = torch.zeros(100)
    views = [kept[:10], kept.view(10, 10)]
    recording.finish()

    assert recording.samples[-1].stored == {"cpu": 400}
    assert len(views) == 2
