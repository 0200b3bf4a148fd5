"""DEV101 by example: what is moved, where, in whose style, and what is left on the CPU."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity
from devfix.sources import SourceFile

from .listings import listings, projects

CODE = "DEV101"


@pytest.mark.parametrize("listing", listings("batch_not_moved", "repaired"))
def test_the_forgotten_part_of_a_batch_is_moved_as_its_author_would(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", listings("batch_not_moved", "untouched"))
def test_a_batch_that_is_right_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


@pytest.mark.parametrize("files", projects("batch_not_moved"))
def test_only_the_file_with_the_loop_changes(files, files_before_and_after, repair):
    before, after = files_before_and_after(files)

    assert repair(CODE, before) == after


def test_what_is_unpacked_into_a_call_is_named(tmp_path):
    program = """\
import torch
from transformers import AutoModel, AutoTokenizer

device = torch.device("cuda")
tokenizer = AutoTokenizer.from_pretrained("bert")
model = AutoModel.from_pretrained("bert").to(device)
enc = tokenizer(["a"], return_tensors="pt")
model(**enc)
"""
    path = tmp_path / "train.py"
    path.write_text(program, encoding="utf-8")
    file = SourceFile(str(path), program.encode(), program)

    (resolution,) = fixpoint.check([file], Settings(root=str(tmp_path))).resolutions

    assert resolution.finding.events[-1].note == "`enc` is used with tensors on the accelerator"


@pytest.mark.parametrize(("test", "level"), [('"mask" in batch', Severity.LATENT), ("args.masked", Severity.ERROR)])
def test_an_entry_that_a_batch_need_not_have_may_be_missing(tmp_path, test, level):
    program = f"""\
import argparse
import torch
from torch.utils.data import DataLoader
from data import Scenes

parser = argparse.ArgumentParser()
parser.add_argument("--masked", action="store_true", default=True)
args = parser.parse_args()
for batch in DataLoader(Scenes()):
    x = batch["x"].cuda()
    if {test}:
        print(torch.index_select(batch["mask"], 0, torch.arange(3).cuda()) + x)
"""
    source = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.check(
        [source], Settings(select=(CODE,), severity=Severity.LATENT, includes_doubtful=True, root=str(tmp_path))
    )

    assert [r.finding.severity for r in outcome.resolutions] == [level]


def test_the_batch_is_found_where_it_is_made_not_where_a_checkpoint_of_the_same_number_is_loaded(tmp_path):
    program = """\
import torch
from torch import nn

device = torch.device("cuda")
state = torch.load("model.pt")
model = nn.Linear(4, 2).to(device)
model.load_state_dict(state)


def sample():
    return torch.ones(3, 2), torch.ones(3, 4)


y, x = sample()
x = x.to(device)
loss = (model(x) - y).sum()
"""
    path = tmp_path / "train.py"
    path.write_text(program, encoding="utf-8")
    file = SourceFile(str(path), program.encode(), program)

    found = [each.finding for each in fixpoint.check([file], Settings(root=str(tmp_path))).resolutions]

    assert [(each.code, each.span.line) for each in found if each.code == CODE] == [(CODE, 14)]


@pytest.mark.parametrize(("default", "found"), [("", [CODE]), ('torch.set_default_device("cuda")', [])])
def test_what_a_tokenizer_returns_is_on_the_default_device(tmp_path, default, found):
    program = f"""\
import torch
from transformers import AutoModel, AutoTokenizer

{default}
tokenizer = AutoTokenizer.from_pretrained("bert")
model = AutoModel.from_pretrained("bert").to("cuda")
model(**tokenizer(["a"], return_tensors="pt"))
"""
    path = tmp_path / "train.py"
    path.write_text(program, encoding="utf-8")
    file = SourceFile(str(path), program.encode(), program)

    assert [each.finding.code for each in fixpoint.check([file], Settings(root=str(tmp_path))).resolutions] == found


@pytest.mark.parametrize(
    ("first", "found"),
    [
        pytest.param("Soft()", [CODE], id="another-loss"),
        pytest.param("Hard()", [], id="the-loss-itself"),
    ],
)
def test_a_move_in_a_function_that_does_not_lead_to_the_use_is_none_of_it(tmp_path, first, found):
    program = f"""\
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import dataset


class Soft(nn.Module):
    def forward(self, x, y):
        if sys.argv[2:]:
            y = y.to(x.device)
        return (x * 2).sum()


class Hard(nn.Module):
    def forward(self, x, y):
        if sys.argv[3:]:
            y = y.to(x.device)
        return torch.zeros(3, 2, device=x.device).scatter_(1, y.view(-1, 1), 1.0)


class Plain(nn.Module):
    def forward(self, x, y):
        return torch.zeros(3, 2, device=x.device).scatter_(1, y.view(-1, 1), 1.0)


criterion = {first} if sys.argv[1:] else {"Plain()" if found else "Hard()"}
model = nn.Linear(4, 2).to("cuda")
for x, y in DataLoader(dataset):
    criterion(model(x.to("cuda")), y)
"""
    path = tmp_path / "train.py"
    path.write_text(program, encoding="utf-8")
    file = SourceFile(str(path), program.encode(), program)

    settings = Settings(root=str(tmp_path), severity=Severity.LATENT, includes_doubtful=True)

    assert [each.finding.code for each in fixpoint.check([file], settings).resolutions] == found
