"""A proof as text, JSON, chart and page, from runs that nobody had to make."""

import base64
import dataclasses
import html.parser
import importlib.resources
import io
import json
import sys

import jsonschema
import pytest
from rich.console import Console

from devfix.report.runs import curves, verdict
from devfix.verify.experiment import Experiment
from devfix.verify.outputs import File, Outputs
from devfix.verify.project import Project
from devfix.verify.records import Failure, Run
from devfix.verify.result import Proof
from devfix.verify.verdict import Verdict

HOSTILE = "<script>alert('x')</script>\x1b[31m"


def make(tmp_path, losses=(0.9, 0.7, 0.8, 0.5), patched=None, status="fixed", message="two devices", args=()):
    (tmp_path / "train.py").write_text("a = 1\nb = 2\n")
    failure = Failure("RuntimeError", message, "same-device", "train.py", 12, "b = 2", f"Traceback\n{message}\n")
    good = {"steps": len(losses), "torch": "2.13.0"}
    runs = {
        "original/cpu": Run("cpu", losses=tuple(losses), **good),
        "original/device": Run("sim", failure=failure),
        "original/unchecked": Run("unchecked", losses=tuple(losses), **good),
        "patched/cpu": Run("cpu", losses=tuple(losses), **good),
        "patched/device": Run("sim", losses=tuple(losses if patched is None else patched), **good),
    }
    experiment = Experiment(Project(tmp_path, "train.py", "."), args, "/usr/bin/python3", "sim")
    return Proof(
        experiment, Verdict(status, f"it is so: {message}", runs, "original/cpu"), {"train.py": b"a = 1\nb = 3\n"}
    )


def test_runs_without_device_checks_are_explained_where_they_are_shown(tmp_path):
    proof = make(tmp_path)
    unchecked = dataclasses.replace(proof.verdict, reference="original/unchecked")
    told = "note: original/unchecked: run on a simulated device that does not check where tensors are"

    assert "unchecked" not in shown(proof)
    assert told in shown(dataclasses.replace(proof, verdict=unchecked))


def shown(proof, **options):
    target = io.StringIO()
    verdict.show(proof, Console(file=target, width=120, **options))
    return target.getvalue()


def page(proof):
    pytest.importorskip("jinja2")
    from devfix.report.runs import verdict_html

    return verdict_html.page(proof)


class Reader(html.parser.HTMLParser):
    """Elements, attributes and text of a page; every element must be closed in order."""

    VOID = ("meta", "line", "polyline", "circle")

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text, self.scripts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts.append(data)
        elif "style" not in self.open:
            self.text.append(data)


def test_the_table_has_a_row_for_each_run_and_the_verdict_comes_last(tmp_path):
    text = shown(make(tmp_path, patched=(0.9, 0.7, 0.75, 0.5)))

    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line[1:9] in ("original", "patched/")}
    assert rows["original/cpu"] == ["completed", "4", "0.9", "0.5", "0"]
    assert rows["original/device"] == ["RuntimeError", "at", "train.py:12", "0", "–", "–", "–"]
    assert rows["patched/device"][-1] == "0.05"
    assert text.splitlines()[-1] == "fixed: it is so: two devices."


def test_the_steps_of_a_run_that_was_killed_are_unknown(tmp_path):
    proof = make(tmp_path)
    proof.verdict.runs["patched/cpu"] = Run("cpu", exit_code=-9, has_report=False)

    row = next(line for line in shown(proof).splitlines() if line.startswith(" patched/cpu"))

    assert row.split() == ["patched/cpu", "killed", "by", "SIGKILL", "unknown", "–", "–", "–"]
    assert not json.loads(verdict.dumps(proof))["runs"]["patched/cpu"]["recorded"]


def test_what_could_not_be_taken_from_the_script_is_told_in_one_line(tmp_path):
    proof = make(tmp_path)
    assert "network" not in shown(proof)

    proof.verdict.runs["patched/cpu"] = Run("cpu", losses=(1.0,), exposed=("network", "processes"))

    notes = [line for line in shown(proof).splitlines() if line.startswith("note:")]
    assert notes == ["note: the kernel cannot isolate the script from the network, other processes"]


def test_a_script_from_which_all_was_taken_makes_no_note(tmp_path):
    assert "note:" not in shown(make(tmp_path))


def test_the_chart_shows_both_curves_and_no_colours_in_a_file(tmp_path):
    pytest.importorskip("plotext")

    text = shown(make(tmp_path))

    assert "loss (⠤ original/cpu, x patched/device) by backward pass" in text
    assert "0.900┤x" in text and "\x1b" not in text
    assert "\x1b[" in shown(make(tmp_path), force_terminal=True, color_system="standard")


@pytest.mark.parametrize("losses", [(), (0.5,), (float("nan"),) * 4, (float("inf"), 1.0)])
def test_nothing_is_drawn_where_there_is_nothing_to_draw(tmp_path, losses):
    assert "by backward pass" not in shown(make(tmp_path, losses))
    assert "<svg" not in page(make(tmp_path, losses))


def test_without_plotext_the_rest_is_shown(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotext", None)

    assert "pip install 'devfix[verify]'" in shown(make(tmp_path), force_terminal=True)
    assert shown(make(tmp_path)).splitlines()[-1].startswith("fixed: ")


def test_a_spike_survives_thinning():
    points = [(number, 1.0) for number in range(1, 10001)]
    points[5003] = (5004, 99.0)

    few = curves.downsample(points, 200)

    assert len(few) <= 200 and (5004, 99.0) in few
    assert few == sorted(few)
    assert curves.downsample(points[:50], 200) == points[:50]


def test_a_second_look_is_shown_and_compared_with_its_like(tmp_path):
    proof = make(tmp_path, patched=(0.9, 0.7, 0.75, 0.5))
    proof.verdict.runs["original/cpu in float64"] = Run("cpu", losses=(0.8, 0.6), steps=2)
    proof.verdict.runs["patched/device in float64"] = Run("cuda", losses=(0.8, 0.61), steps=2)

    rows = [line.split() for line in shown(proof).splitlines() if " in float64 " in line]

    assert [(row[0], row[-1]) for row in rows] == [("original/cpu", "0"), ("patched/device", "0.01")]
    assert json.loads(verdict.dumps(proof))["runs"]["patched/device in float64"]["largest_difference"] == 0.61 - 0.6
    schema = json.loads(importlib.resources.files("devfix").joinpath("schema", "verdict-2.json").read_text("utf-8"))
    jsonschema.validate(verdict.document(proof), schema)


def test_json_follows_its_schema_also_where_a_loss_is_no_number(tmp_path):
    schema = json.loads(importlib.resources.files("devfix").joinpath("schema", "verdict-2.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)

    document = json.loads(verdict.dumps(make(tmp_path, (0.5, float("nan"), float("inf")))), parse_constant=pytest.fail)

    jsonschema.validate(document, schema)
    assert document["runs"]["patched/device"]["losses"] == [0.5, "nan", "inf"]


def test_the_page_needs_nothing_else(tmp_path):
    text = page(make(tmp_path))
    read = Reader(text)

    assert not {"link", "img", "iframe", "object", "base"} & {tag for tag, _ in read.elements}
    assert not any(name.startswith("on") or name == "src" for _, found in read.elements for name in found)
    links = [found["href"] for _, found in read.elements if "href" in found]
    assert len(links) == 1 and links[0].startswith("data:text/x-patch;base64,")
    assert "url(" not in text and "@import" not in text and "style=" not in text
    policy = next(found["content"] for _, found in read.elements if found.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy


def test_the_patch_is_downloaded_as_git_takes_it(tmp_path):
    read = Reader(page(make(tmp_path)))

    link = next(found["href"] for _, found in read.elements if found.get("download"))
    patch = base64.b64decode(link.partition(",")[2]).decode()
    assert patch.endswith("@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n") and "+++ b/" in patch


def test_the_page_says_what_the_text_says(tmp_path):
    read = Reader(page(make(tmp_path, args=("--epochs", "2"))))
    text = "".join(read.text)

    for words in (
        "train.py --epochs 2",
        "it is so: two devices",
        "RuntimeError at train.py:12",
        "torch 2.13.0",
        "no difference at any pass",
    ):
        assert words in text
    assert "-b = 2" in text and "+b = 3" in text
    lines = [found["points"].split() for tag, found in read.elements if tag == "polyline"]
    assert [len(points) for points in lines] == [4, 4, 4] and lines[0] == lines[1]
    heights, differences = ([float(point.split(",")[1]) for point in points] for points in (lines[0], lines[2]))
    assert heights.index(min(heights)) == 0 and heights.index(max(heights)) == 3  # the largest loss is on top
    assert len(set(differences)) == 1 and min(differences) > max(heights)  # a level line below


def test_the_difference_of_the_losses_is_drawn_and_said(tmp_path):
    read = Reader(page(make(tmp_path, patched=(0.9, 0.7, 0.75, 0.5))))

    *_, difference = (found["points"].split() for tag, found in read.elements if tag == "polyline")
    heights = [float(point.split(",")[1]) for point in difference]
    assert heights[0] == heights[1] == heights[3] and heights[2] > heights[0]  # the patched loss is lower
    assert "largest difference 0.05, at pass 3" in "".join(read.text)


@pytest.mark.parametrize(
    ("last", "expected"),
    [(1, [1]), (2, [1, 2]), (4, [1, 2, 3, 4]), (30, [1, 10, 20, 30]), (230, [1, 50, 100, 150, 200])],
)
def test_ticks_are_round_numbers(last, expected):
    assert curves.ticks(last) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.18, 2.53, ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]),
        (-4e-7, 4e-7, ["-5e-07", "0", "5e-07"]),
        (0.0, 12e6, ["0", "1e+07", "2e+07"]),
    ],
)
def test_levels_are_round_numbers_that_span_the_values(low, high, expected):
    found = curves.nice_levels(low, high, 2 if len(expected) < 5 else 5)

    assert [text for _, text in found] == expected
    assert found[0][0] <= low and high <= found[-1][0]


def test_what_comes_out_of_programs_is_text_and_not_markup(tmp_path):
    text = page(make(tmp_path, message=HOSTILE, status="not-fixed", args=("</title><b>", HOSTILE)))

    read = Reader(text)
    plain = Reader(page(make(tmp_path, status="not-fixed")))
    assert [tag for tag, _ in read.elements] == [tag for tag, _ in plain.elements]
    assert read.scripts == plain.scripts and "alert('x')" in "".join(read.text) and "\x1b" not in text
    assert "\x1b" not in shown(make(tmp_path, message=HOSTILE))


def test_losses_that_are_all_the_same_are_a_level_line(tmp_path):
    read = Reader(page(make(tmp_path, (0.0, 0.0, 0.0))))

    points = next(found["points"] for tag, found in read.elements if tag == "polyline").split()
    assert len({point.split(",")[1] for point in points}) == 1


def with_outputs(proof, ours, theirs):
    runs = proof.verdict.runs
    for name, produced in (("patched/device", ours), ("original/cpu", theirs)):
        runs[name] = dataclasses.replace(runs[name], outputs=produced)
    return proof


def metrics(**values):
    return Outputs(("acc 0.75",), files={"metrics.json": File("values", values=values)})


def test_outputs_are_shown_with_their_differences(tmp_path):
    proof = with_outputs(make(tmp_path), metrics(accuracy=0.5, loss=1.0), metrics(accuracy=0.75, loss=1.0))

    text = shown(proof)

    assert [line.split() for line in text.splitlines() if "metrics.json  " in line] == [
        ["metrics.json", "2", "values", "1"]
    ]
    assert "output: metrics.json: `accuracy` is 0.5 instead of 0.75" in text
    row = page(proof).partition("metrics.json: <code>accuracy</code>")[2].partition("</tr>")[0]
    assert "<code>0.75</code>" in row and "<code>0.5</code>" in row
    document = verdict.document(proof)
    assert document["outputs"] == {
        "compared": [
            {"name": "printed output", "contents": "1 line", "differences": 0},
            {"name": "metrics.json", "contents": "2 values", "differences": 1},
        ],
        "differences": [
            {"where": "metrics.json: `accuracy`", "ours": "0.5", "theirs": "0.75", "output": "metrics.json"}
        ],
    }
    jsonschema.validate(
        document,
        json.loads(importlib.resources.files("devfix").joinpath("schema", "verdict-2.json").read_text("utf-8")),
    )


def test_of_many_differences_the_first_ten_are_shown(tmp_path):
    ours, theirs = ({f"v{number}": number + more for number in range(25)} for more in (0, 1))

    text = shown(with_outputs(make(tmp_path), metrics(**ours), metrics(**theirs)))

    assert text.count("output: metrics.json") == 10 and "output: and 15 more" in text


def test_of_many_outputs_those_that_differ_are_shown_first(tmp_path):
    ours, theirs = (
        Outputs(
            files={f"{number:02}.txt": File("text", lines=(str(last if number == 29 else 0),)) for number in range(30)}
        )
        for last in (1, 2)
    )

    text = shown(with_outputs(make(tmp_path), ours, theirs))

    assert "29.txt" in text and "and 20 more" in text and "20.txt" not in text


def test_what_repetitions_do_not_reproduce_is_no_difference(tmp_path):
    proof = with_outputs(make(tmp_path), metrics(seed=1), metrics(seed=2))
    proof.verdict.runs["original/cpu again"] = dataclasses.replace(
        proof.verdict.runs["original/cpu"], outputs=metrics(seed=3)
    )

    assert proof.output_differences == ()


def test_without_outputs_there_is_no_table(tmp_path):
    proof = make(tmp_path)

    assert "output" not in shown(proof) and "<h2>Outputs</h2>" not in page(proof)
