"""What is left after ``devfix apply``: told with the lines of the files as they are now, in every format."""

from __future__ import annotations

import json
import re
import subprocess
from xml.etree import ElementTree

import nbformat
import pytest
from click.testing import CliRunner

from devfix.cli import cli

#: Line 7 gets two lines above it; below are an unsafe fix (line 15), a suppressed finding (26) and a note (27).
PROGRAM = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def train(net, loader, device):
    for images, labels in loader:
        nn.functional.cross_entropy(net(images), labels).backward()


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        # "é😀" stands here

        self.layers = [nn.Linear(4, 4), nn.Linear(4, 2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def main():
    device = torch.device("cuda")
    net, head = nn.Linear(4, 2).to(device), Head().to(device)
    extra = torch.ones(2)  # devfix: ignore[DEV102] the plot's
    head(torch.zeros(1, 4, device=device)) + extra  # devfix: ignore[DEV101]
    train(net, DataLoader(TensorDataset(torch.zeros(8, 4), torch.zeros(8).long()), 4), device)


main()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def devfix(*arguments, given=None):
    return CliRunner().invoke(cli, [*arguments, "--no-cache"], input=given)


def line_of(text, start):
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(start))


def in_concise(text):
    return [int(line) for line in re.findall(r"^train\.py:(\d+):\d+: DEV203", text, re.MULTILINE)]


def in_json(text):
    return [each["span"]["line"] for each in json.loads(text)["findings"] if each["code"] == "DEV203"]


def in_jsonl(text):
    lines = [json.loads(line).get("finding") for line in text.splitlines()]
    return [each["span"]["line"] for each in lines if each and each["code"] == "DEV203"]


def in_sarif(text):
    results = [each for each in json.loads(text)["runs"][0]["results"] if each["ruleId"] == "DEV203"]
    regions = [each["locations"][0]["physicalLocation"]["region"] for each in results]
    assert [each["snippet"]["text"] for each in regions] == ["self.layers = [nn.Linear(4, 4), nn.Linear(4, 2)]"]
    return [each["startLine"] for each in regions]


def in_github(text):
    return [int(line) for line in re.findall(r"DEV203\),file=train\.py,line=(\d+)", text)]


def in_gitlab(text):
    return [each["location"]["lines"]["begin"] for each in json.loads(text) if each["check_name"] == "DEV203"]


def in_rdjson(text):
    found = [each for each in json.loads(text)["diagnostics"] if each["code"]["value"] == "DEV203"]
    return [each["location"]["range"]["start"]["line"] for each in found]


def in_junit(text):
    names = [case.get("name") for case in ElementTree.fromstring(text).iter("testcase")]
    return [int(name.split(" at ")[1].split(":")[0]) for name in names if name.startswith("DEV203")]


FORMATS = {
    "concise": in_concise,
    "json": in_json,
    "jsonl": in_jsonl,
    "sarif": in_sarif,
    "github": in_github,
    "gitlab": in_gitlab,
    "rdjson": in_rdjson,
    "junit": in_junit,
}


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_left_has_the_line_of_the_file_as_it_is_now(folder, name):
    result = devfix("apply", "train.py", "--output-format", name)

    written = (folder / "train.py").read_text(encoding="utf-8")
    assert line_of(written, "self.layers =") > line_of(PROGRAM, "self.layers =")
    assert FORMATS[name](result.stdout) == [line_of(written, "self.layers =")]


@pytest.mark.parametrize("flag", ["--diff", "--check"])
def test_where_nothing_is_written_lines_are_those_of_the_file_on_the_disk(folder, flag):
    result = devfix("apply", "train.py", flag)

    report = result.stderr if flag == "--diff" else result.stdout
    assert f"train.py:{line_of(PROGRAM, 'self.layers =')}:9 error DEV203" in report


def test_the_text_shows_the_story_by_its_lines_of_now(folder):
    result = devfix("apply", "train.py")

    written = (folder / "train.py").read_text(encoding="utf-8").splitlines()
    story = re.findall(r"^ +(\d+) \| (.*?)  ", result.stdout, re.MULTILINE)
    assert len(story) == 4  # two of the five events are on the same line
    for line, source in story:
        assert written[int(line) - 1].strip().split("  ")[0] == source


def test_notes_and_suppressed_findings_move_along(folder):
    result = devfix("apply", "train.py", "-v")

    written = (folder / "train.py").read_text(encoding="utf-8")
    extra = line_of(written, "extra =")
    assert f"train.py:{extra}:13 error DEV102" in result.stdout
    assert f"devfix: note: train.py:{extra + 1}: unused suppression (DEV101)" in result.stderr


def test_what_was_fixed_keeps_the_line_where_check_told_of_it(folder):
    known = json.loads(devfix("check", ".", "--output-format", "json").stdout)["findings"]

    result = json.loads(devfix("apply", ".", "--output-format", "json").stdout)

    fixed = [each for each in result["findings"] if each["status"] == "fixed"]
    assert {each["span"]["line"] for each in fixed} == {line_of(PROGRAM, "for images")}
    before = {(each["code"], each["message"]): (each["span"], each["events"]) for each in known}
    for each in fixed:
        assert before[each["code"], each["message"]] == (each["span"], each["events"])


def test_check_of_what_was_written_tells_the_same_of_what_is_left(folder):
    applied = json.loads(devfix("apply", ".", "--output-format", "json").stdout)["findings"]
    checked = json.loads(devfix("check", ".", "--output-format", "json").stdout)["findings"]

    def places(findings):
        return [(each["code"], each["span"], each["events"]) for each in findings if each["status"] != "fixed"]

    assert places(applied) == places(checked) != []


def test_a_filter_counts_in_what_it_prints(folder):
    result = devfix("apply", "-", "--stdin-filename", "train.py", given=PROGRAM)

    assert f"train.py:{line_of(result.stdout, 'self.layers =')}:9 error DEV203" in result.stderr


def test_in_a_notebook_the_line_of_the_cell_is_that_of_now(folder):
    head, _, rest = PROGRAM.partition("\n\nclass")
    cells = [head, f"class{rest.replace('main()' + chr(10), '')}\nmain()"]
    one = [nbformat.v4.new_code_cell(f"{head}\n\nclass{rest}")]
    for sources in (one, [nbformat.v4.new_code_cell(cell) for cell in cells]):
        nbformat.write(nbformat.v4.new_notebook(cells=sources), folder / "train.ipynb")
        checked_before = json.loads(devfix("check", "train.ipynb", "--output-format", "json").stdout)["findings"]

        applied = json.loads(devfix("apply", "train.ipynb", "--output-format", "json").stdout)["findings"]

        checked = json.loads(devfix("check", "train.ipynb", "--output-format", "json").stdout)["findings"]
        left = [(each["cell"], each["span"]) for each in applied if each["status"] == "fixable"]
        assert left == [(each["cell"], each["span"]) for each in checked if each["status"] == "fixable"] != []
        fixed = [(each["cell"], each["span"]) for each in applied if each["status"] == "fixed"]
        assert fixed == [(each["cell"], each["span"]) for each in checked_before if each["code"] == "DEV101"] != []
