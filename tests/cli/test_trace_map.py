"""``devfix trace --map`` from outside."""

from __future__ import annotations

import importlib.resources
import json

import jsonschema
import pytest
from click.testing import CliRunner

from devfix.cli import cli

TRAINING = """\
import torch
from torch import nn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 1)
        self.spare = [nn.Linear(4, 1)]
    def forward(self, x):
        return self.head(x)
net = Net().to(device)
optimizer = torch.optim.Adam(net.parameters())
for step in range(9):
    net(torch.ones(2, 4, device=device)).sum().backward()
    optimizer.step()
    print("step", step)
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "train.py").write_text(text)
        return "train.py"

    return write


def mapped(*arguments):
    return CliRunner().invoke(cli, ["trace", "--map", "--device", "sim", *arguments])


def test_what_is_out_of_place_is_shown_and_makes_the_exit_code(script):
    done = mapped(script(TRAINING))
    assert done.exit_code == 1, done.output
    assert "is_available()  True" in done.stdout
    assert "✗ in a list, so not moved with net, which is on cuda:0" in " ".join(done.stdout.split())
    assert "After 1 optimizer step at train.py:15: 1 object is misplaced." in done.stdout


def test_all_in_its_place(script):
    done = mapped(script(TRAINING.replace("[nn.Linear(4, 1)]", "nn.Linear(4, 1)")))
    assert done.exit_code == 0, done.output
    assert "nothing is misplaced." in done.stdout
    assert "✗" not in done.stdout


def test_json_follows_its_schema(script):
    done = mapped(script(TRAINING), "--output-format", "json")
    document = json.loads(done.stdout)
    schema = json.loads(importlib.resources.files("devfix").joinpath("schema", "map-2.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    places = {row["name"]: row["devices"] for row in document["map"]["rows"]}
    assert (places["net"], places["net.spare[0]"], places["optimizer"]) == (["cuda:0"], ["cpu"], ["cuda:0"])


def test_a_page_escapes_what_the_script_says(script):
    done = mapped(script(TRAINING.replace("Net", "Größe") + "\n"), "--output-format", "html")
    assert done.stdout.startswith("<!doctype html>")
    assert "Größe" in done.stdout
    spiky = mapped(script('import torch\nheld = {"<xmp>": torch.ones(2)}\n'), "--output-format", "html")
    assert "&lt;xmp&gt;" in spiky.stdout
    assert "<xmp>" not in spiky.stdout


def test_a_run_that_is_killed_has_no_map(script):
    done = mapped(script("import os\nos._exit(3)\n"))
    assert done.exit_code == 1
    assert "No map: ended with exit code 3" in done.stdout


def test_a_log_has_no_map(script):
    done = mapped(script(TRAINING), "--log", "log.txt")
    assert done.exit_code == 2
    assert "--map" in done.stderr


def test_a_timeline_is_written_for_a_run_and_refused_for_a_map_and_a_log(script):
    path = script(TRAINING)

    done = CliRunner().invoke(cli, ["trace", str(path), "--output-format", "chrome-trace"])
    assert {"M", "X", "C"} <= {event["ph"] for event in json.loads(done.stdout)["traceEvents"]}
    for option in (["--map"], ["--log", "log.txt"]):
        refused = CliRunner().invoke(cli, ["trace", str(path), *option, "--output-format", "chrome-trace"])
        assert refused.exit_code == 2 and "chrome-trace cannot be combined with" in refused.stderr


def test_a_run_that_is_killed_has_no_timeline(script):
    path = script("import os\nos._exit(3)\n")

    done = CliRunner().invoke(cli, ["trace", str(path), "--output-format", "chrome-trace"])

    assert done.exit_code == 2
    assert "the run has no timeline" in done.stderr and not done.stdout
