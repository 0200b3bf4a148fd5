"""What a run under provenance tells of its failure: who made the values, who moved them, what they are called."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from devfix.verify import Run, run

HEAD = """\
import torch
from torch import nn
device = "cuda"
"""


def told(folder: Path, text: str, **files: str) -> dict[str, Any]:
    """The story of a script, whose first line is line 4, behind the imports."""
    return story_of(ran(folder, text, **files))


def ran(folder: Path, text: str, **files: str) -> Run:
    (folder / "train.py").write_text(HEAD + dedent(text))
    for name, content in files.items():
        (folder / f"{name}.py").write_text(dedent(content))
    return run("train.py", cwd=folder, provenance=True)


def story_of(done: Run) -> dict[str, Any]:
    assert done.story is not None, done.output
    return dict(done.story)


def value(story: dict[str, Any], role: str) -> dict[str, Any]:
    return next(each for each in story["values"] if each["role"] == role)


def lines(events: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    return [(event["kind"], event["device"], event["chain"][0]["line"]) for event in events]


def test_the_birth_and_the_transfer_of_both_values(tmp_path: Path) -> None:
    story = told(
        tmp_path,
        """\
        image = torch.randn(2, 3).to(device)
        table = torch.zeros(3)
        shown = image + 1
        shown * table
        """,
    )
    assert (story["where"]["file"], story["where"]["line"]) == ("train.py", 7)
    assert story["operation"] == "aten::mul"
    one, other = story["values"]
    assert (one["names"][0]["text"], one["device"]) == ("shown", "cuda:0")
    assert lines(one["history"]) == [("created", "cpu", 4), ("moved", "cuda:0", 4), ("computed", "cuda:0", 6)]
    assert (other["names"][0]["text"], other["device"], other["shape"]) == ("table", "cpu", [3])
    assert lines(other["history"]) == [("created", "cpu", 5)]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="positions of expressions came with Python 3.11")
def test_the_expression_that_made_it(tmp_path: Path) -> None:
    story = told(tmp_path, "x = torch.ones(2, device=device)\nx + (torch.ones(2) * 2)\n")
    made = value(story, "other")["history"][0]["chain"][0]
    assert made["span"] == [5, 5, 5, 18]


def test_a_part_that_was_attached_after_the_move(tmp_path: Path) -> None:
    story = told(
        tmp_path,
        """\
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to(device)
        model[1] = nn.Linear(3, 2)
        model(torch.ones(1, 3, device=device))
        """,
    )
    weight = value(story, "mat2")
    assert weight["names"][0]["text"] == "model[1].weight"
    assert lines(weight["history"]) == [("created", "cpu", 5)]
    owner = weight["history"][0]["owner"]
    assert (owner["type"], owner["attribute"], owner["kind"]) == ("Linear", "weight", "parameter")
    (above,) = owner["above"]
    assert (above["type"], above["path"]) == ("Sequential", "1")
    (moved,) = above["events"]
    (attached,) = owner["events"]
    assert (moved["kind"], moved["device"], moved["chain"][0]["line"]) == ("moved", "cuda:0", 4)
    assert (attached["kind"], attached["chain"][0]["line"]) == ("attached", 5)
    assert moved["index"] < weight["history"][0]["index"] < attached["index"]


def test_a_module_in_a_list_is_told_with_the_list(tmp_path: Path) -> None:
    story = told(
        tmp_path,
        """\
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = [nn.Linear(3, 3)]
            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
        net = Net().to(device)
        net(torch.ones(1, 3, device=device))
        """,
    )
    owner = value(story, "mat2")["history"][0]["owner"]
    assert owner["container"] == ["Net", "blocks", "list"]
    assert [position["function"] for position in story["frames"]] == ["forward", "<module>"]


def test_an_ancestor_is_told_with_its_name_and_owner(tmp_path: Path) -> None:
    story = told(
        tmp_path,
        """\
        class Loss(nn.Module):
            def __init__(self):
                super().__init__()
                self.proxies = nn.Parameter(torch.randn(4, 3))
            def forward(self, x):
                return x @ nn.functional.normalize(self.proxies).t()
        Loss()(torch.ones(1, 3, device=device))
        """,
    )
    history = value(story, "mat2")["history"]
    assert history[0]["names"][0]["text"] == "self.proxies"
    assert history[0]["owner"]["kind"] == "parameter"
    assert history[-1]["kind"] == "computed"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        ('held = {"ids": {"left": torch.zeros(2)}}', 'held["ids"]["left"]'),
        ("held = [torch.zeros(2), 1]", "held[0]"),
        ("import collections; held = collections.namedtuple('B', 'ids size')(torch.zeros(2), 1)", "held.ids"),
        ("import dataclasses; held = dataclasses.make_dataclass('B', ['ids'])(torch.zeros(2))", "held.ids"),
        ("held = type('B', (), {'__slots__': ('ids',)})(); held.ids = torch.zeros(2)", "held.ids"),
    ],
)
def test_names_of_what_containers_hold(tmp_path: Path, make: str, name: str) -> None:
    story = told(tmp_path, f"{make}\ntorch.ones(2, device=device) + {name}\n")
    assert value(story, "other")["names"][0]["text"] == name


def test_state_of_an_optimizer_that_was_loaded(tmp_path: Path) -> None:
    story = told(
        tmp_path,
        """\
        import io
        net = nn.Linear(2, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        net(torch.ones(1, 2)).sum().backward()
        opt.step()
        file = io.BytesIO()
        torch.save(opt.state_dict(), file)
        file.seek(0)
        state = torch.load(file, map_location="cpu")
        opt.load_state_dict(state)
        net.to(device)
        opt.zero_grad()
        net(torch.ones(1, 2, device=device)).sum().backward()
        opt.step()
        """,
    )
    assert story["where"]["line"] == 17
    culprit = next(each for each in story["values"] if each["device"] == "cpu")
    assert culprit["names"][0]["text"] == "opt.state[0]['momentum_buffer']"
    assert culprit["history"][0]["kind"] == "loaded"
    assert culprit["history"][0]["chain"][0]["line"] == 12


def test_values_that_need_the_cpu(tmp_path: Path) -> None:
    story = told(tmp_path, "import numpy\nx = torch.ones(2, device=device) * 2\nnumpy.asarray(x)\n")
    assert story["function"] == "__array__"
    assert story["values"][0]["names"][0]["text"] == "x"
    assert story["where"]["line"] == 6


def test_a_birth_in_an_installed_package(tmp_path: Path) -> None:
    package = tmp_path / "installed" / "site-packages" / "positions"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import torch\ndef table(n):\n    return torch.arange(n)\n")
    facts = package.parent / "positions-1.4.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: positions\nVersion: 1.4.2\n")
    (facts / "top_level.txt").write_text("positions\n")
    script = "from positions import table\nx = torch.ones(3, device=device)\nx + table(3)\n"
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(HEAD + script)
    done = run("train.py", cwd=folder, provenance=True, env={"PYTHONPATH": str(package.parent)})
    event = value(story_of(done), "other")["history"][0]
    assert event["chain"][0]["line"] == 6
    assert (event["foreign"]["package"], event["foreign"]["version"]) == ("positions", "1.4.2")
    assert event["foreign"]["line"] == 3
    assert done.story is not None
    assert done.story["foreign"] is None  # it fails in the project


def test_the_cause_of_an_error_that_was_wrapped(tmp_path: Path) -> None:
    story = told(
        tmp_path,
        """\
        try:
            torch.ones(2, device=device) + torch.ones(2)
        except RuntimeError as error:
            raise ValueError("training failed") from error
        """,
    )
    assert story["where"]["line"] == 5
    assert [each["device"] for each in story["values"]] == ["cuda:0", "cpu"]


def test_a_long_chain_of_values_is_cut(tmp_path: Path) -> None:
    story = told(
        tmp_path,
        """\
        x = torch.zeros(2)
        for _ in range(500):
            x = x + 1
        torch.ones(2, device=device) + x
        """,
    )
    history = value(story, "other")["history"]
    assert 2 <= len(history) <= 16
    assert lines(history)[0] == ("created", "cpu", 4)


TRAINING = """\
torch.manual_seed(3)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1)).to(device)
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
for step in range(4):
    x = torch.randn(6, 4)
    loss = (net(x.to(device)) - x.sum(1, keepdim=True).to(device)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_run_that_is_watched_trains_the_same(tmp_path: Path) -> None:
    watched = ran(tmp_path, TRAINING)
    alone = run("train.py", cwd=tmp_path)
    assert watched.ok
    assert watched.story is None
    assert (watched.losses, watched.digest, watched.random) == (alone.losses, alone.digest, alone.random)
    assert len(watched.losses) == 4


def test_a_failure_without_tensors_has_its_place(tmp_path: Path) -> None:
    story = told(tmp_path, "def load():\n    raise KeyError('lr')\nload()\n")
    assert (story["where"]["line"], story["values"], story["operation"]) == (5, [], None)


def test_what_autograd_makes_lives_where_it_does_without_being_watched(tmp_path: Path) -> None:
    """Operators that the watch passes on are no calls of the program's: the simulator would take their device."""
    text = """\
        torch.manual_seed(0)
        net = nn.Linear(6, 6).to(device)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        mask = torch.eye(4, dtype=torch.bool)
        for _ in range(3):
            x = torch.nn.functional.normalize(net(torch.randn(4, 6).to(device)), dim=1)
            same = (x @ x.T)[~mask].view(4, -1)
            opt.zero_grad()
            same.pow(2).mean().backward()
            opt.step()
        """
    watched = ran(tmp_path, text)
    alone = run("train.py", cwd=tmp_path)
    assert (alone.ok, watched.ok) == (True, True), watched.outcome
    assert watched.losses == alone.losses


def test_births_are_noted_on_a_machine_without_accelerator(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nx = torch.ones(2, 3)\ny = x * 2\ny @ x\n")
    story = story_of(run("train.py", device="cpu", cwd=tmp_path, provenance=True))
    assert story["function"] == "matmul"
    assert [lines(each["history"]) for each in story["values"]] == [
        [("created", "cpu", 2), ("computed", "cpu", 3)],
        [("created", "cpu", 2)],
    ]
