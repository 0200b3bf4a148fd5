"""The timeline in the Trace Event Format: every rule that Perfetto and chrome://tracing rely on."""

import itertools
import json
import math
from dataclasses import replace

import pytest
from recorded_runs import recorded_trace

from devfix.report.runs import chrome_trace

PHASES = {"M", "X", "s", "f", "i", "C"}
REQUIRED = {"name", "ph", "ts", "pid", "tid"}


@pytest.fixture
def trace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return recorded_trace(tmp_path)


@pytest.fixture
def events(trace):
    return json.loads(chrome_trace.dumps(trace))["traceEvents"]


def of(events, phase):
    return [event for event in events if event["ph"] == phase]


def slices_of(events, process, thread):
    return [each for each in of(events, "X") if (each["pid"], each["tid"]) == (process, thread)]


def test_each_event_has_the_required_keys_and_a_known_phase(events):
    assert {event["ph"] for event in events} == PHASES
    for event in events:
        assert event.keys() >= REQUIRED
        assert math.isfinite(event["ts"]) and event["ts"] >= 0
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)


def test_metadata_comes_first_and_times_are_sorted(events):
    count = len(of(events, "M"))

    assert all(event["ph"] == "M" for event in events[:count])
    times = [event["ts"] for event in events]
    assert times == sorted(times)


def test_each_device_is_a_named_process_and_each_lane_a_named_thread(events):
    processes = {each["pid"]: each["args"]["name"] for each in of(events, "M") if each["name"] == "process_name"}
    threads = {(each["pid"], each["tid"]) for each in of(events, "M") if each["name"] == "thread_name"}

    assert list(processes.values()) == ["grow.py", "cpu", "cuda:0"]
    for event in of(events, "X"):
        assert processes[event["pid"]] == event["args"]["device"]
        assert (event["pid"], event["tid"]) in threads


def test_slices_of_a_thread_do_not_overlap(events):
    for place in {(each["pid"], each["tid"]) for each in of(events, "X")}:
        ordered = slices_of(events, *place)
        for one, other in itertools.pairwise(ordered):
            assert one["ts"] + one["dur"] <= other["ts"]
    assert all(event["dur"] > 0 for event in of(events, "X"))


def test_each_move_is_an_arrow_from_the_slice_of_its_source_to_its_own(events):
    starts, ends = of(events, "s"), of(events, "f")

    assert len(starts) == 5
    assert [each["id"] for each in starts] == [each["id"] for each in ends]
    for start, end in zip(starts, ends, strict=True):
        assert events.index(start) < events.index(end)
        assert (start["name"], start["cat"]) == (end["name"], end["cat"])
        assert end["bp"] == "e" and start["pid"] != end["pid"]
        sources = slices_of(events, start["pid"], start["tid"])
        assert sum(each["ts"] <= start["ts"] <= each["ts"] + each["dur"] for each in sources) == 1
        assert any(each["ts"] == end["ts"] for each in slices_of(events, end["pid"], end["tid"]))


def test_the_failure_is_one_global_instant_after_all_values(events):
    (failure,) = [each for each in of(events, "i") if each["s"] == "g"]

    assert failure["name"] == "RuntimeError"
    assert failure["args"]["where"][0] == "grow.py:19  x = x + torch.tanh(layer(x))"
    assert failure["ts"] >= max(each["ts"] for each in of(events, "X"))
    assert {each["s"] for each in of(events, "i")} <= {"g", "p", "t"}


def test_counters_hold_the_bytes_of_each_device(events):
    counters = of(events, "C")

    assert {each["name"] for each in counters} == {"bytes on cpu", "bytes on cuda:0"}
    last = {each["name"]: each["args"] for each in counters}
    alive = [each["args"] for each in of(events, "X") if each["args"]["exists_at_the_end"]]
    for device in ("cpu", "cuda:0"):
        expected = sum(each["bytes"] for each in alive if each["device"] == device)
        assert sum(last[f"bytes on {device}"].values()) == expected > 0


def test_a_value_tells_its_shape_its_line_and_its_first_use(events):
    (bias,) = [each for each in of(events, "X") if each["name"] == "model.out.bias"]

    assert (bias["cat"], bias["args"]["dtype"], bias["args"]["shape"]) == ("moved", "float32", [1])
    assert bias["args"]["where"] == ["grow.py:23  model = Tower(width=6, depth=1).to(device)"]
    uses = [each["args"]["value"] for each in of(events, "i") if each["name"] == "first use"]
    assert "inputs" in uses and "model.out.bias" not in uses


def test_the_same_run_gives_the_same_bytes(trace):
    assert chrome_trace.dumps(trace) == chrome_trace.dumps(trace)


def test_a_run_without_a_timeline_is_refused(trace):
    with pytest.raises(ValueError, match="no timeline"):
        chrome_trace.dumps(replace(trace, timeline=None))
