"""Batches whose items are replaced in a loop over their keys, with and without a known structure."""

from __future__ import annotations

import pytest

SETUP = """
class Data(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return {sample}

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
there = torch.ones(4, device=device)
KEYS = open("keys").read().split()
{helper}
for batch in DataLoader(Data(), batch_size=2):
    {move}
    print(batch[{item}] + there)
"""
DICTIONARIES = {"known": '{"x": torch.rand(4), "y": 1, "name": "a"}', "unknown": "self.load(i)"}
SEQUENCES = {"known": "[torch.rand(4), 1]", "unknown": "self.load(i)"}

BY_KEY = {
    "each key": "for k in batch: batch[k] = batch[k].to(device)",
    "each key but one": "for k in batch:\n        if k != 'name': batch[k] = batch[k].to(device)",
    "each pair": "for k, v in batch.items():\n        if torch.is_tensor(v): batch[k] = v.to(device)",
    "each pair that has the method": "for k, v in batch.items():\n        if hasattr(v, 'to'): batch[k] = v.to(device)",
    "an expression that chooses": "for k, v in batch.items(): batch[k] = v.to(device) if torch.is_tensor(v) else v",
    "keys of another file": "for k in KEYS: batch[k] = batch[k].to(device)",
    "errors are caught": (
        "for k in batch:\n        try:\n            batch[k] = batch[k].to(device)\n        except Exception:\n"
        "            continue"
    ),
    "update": "batch.update({k: v.to(device) for k, v in batch.items() if torch.is_tensor(v)})",
}
BY_INDEX = {
    "each index": "for i in range(len(batch)): batch[i] = batch[i].to(device)",
    "each index, errors are caught": (
        "for i in range(len(batch)):\n        try:\n            batch[i] = batch[i].to(device)\n        except:\n"
        "            pass"
    ),
}


def _program(sample: str, move: str, item: str, helper: str = "") -> str:
    return SETUP.replace("{sample}", sample).replace("{move}", move).replace("{item}", item).replace("{helper}", helper)


@pytest.mark.parametrize("move", BY_KEY.values(), ids=BY_KEY)
@pytest.mark.parametrize("sample", DICTIONARIES.values(), ids=DICTIONARIES)
def test_items_that_a_loop_moves_by_key_are_not_on_the_cpu(met, sample, move):
    assert met(_program(sample, move, "'x'")) == []


@pytest.mark.parametrize("move", BY_INDEX.values(), ids=BY_INDEX)
@pytest.mark.parametrize("sample", SEQUENCES.values(), ids=SEQUENCES)
def test_items_that_a_loop_moves_by_index_are_not_on_the_cpu(met, sample, move):
    assert met(_program(sample, move, "0")) == []


@pytest.mark.parametrize("move", BY_KEY.values(), ids=BY_KEY)
@pytest.mark.parametrize("sample", DICTIONARIES.values(), ids=DICTIONARIES)
def test_a_function_may_move_the_items_of_its_argument(met, sample, move):
    helper = f"def send(batch, device):\n    {move}"

    assert met(_program(sample, "send(batch, device)", "'x'", helper)) == []


def test_a_function_may_move_the_indexed_items_of_its_argument(met):
    helper = f"def send(batch, device):\n    {BY_INDEX['each index']}"

    assert met(_program(SEQUENCES["unknown"], "send(batch, device)", "0", helper)) == []


def test_a_function_may_move_one_item_of_its_argument(met):
    helper = "def send(batch, device):\n    batch['x'] = batch['x'].to(device)"

    assert met(_program(DICTIONARIES["unknown"], "send(batch, device)", "'x'", helper)) == []
    assert met(_program(DICTIONARIES["unknown"], "send(batch, device)", "'y'", helper)) == ["print(batch['y'] + there)"]


@pytest.mark.parametrize("sample", DICTIONARIES.values(), ids=DICTIONARIES)
@pytest.mark.parametrize(
    "move",
    [
        "batch['y'] = batch['y'].to(device)",
        "for k in ('y',): batch[k] = batch[k].to(device)",
        "for k, v in batch.items(): print(k, v.to(device))",
        "other = {k: v.to(device) for k, v in batch.items()}",
    ],
)
def test_what_is_not_moved_is_on_the_cpu(met, sample, move):
    assert met(_program(sample, move, "'x'")) == ["print(batch['x'] + there)"]


def test_a_mask_selects_values_and_moves_nothing(met):
    move = "x, mask = batch\n    x[mask > 0] = there[mask > 0].cpu()\n    print(x + there)"

    assert "print(x + there)" in met(_program(SEQUENCES["unknown"], move, "0"))


@pytest.mark.parametrize(
    "move",
    [
        'batch.update({"z": there})',
        "other = batch.copy()\n    for k in other: other[k] = other[k].to(device)",
    ],
)
def test_other_keys_and_copies_are_not_moved(met, move):
    assert met(_program(DICTIONARIES["unknown"], move, "'x'")) == ["print(batch['x'] + there)"]


def test_items_that_a_loop_does_not_write_stay_where_they_are(met):
    program = """
        import sys
        there = torch.ones(2, device="cuda")
        d = {}
        if sys.argv[1] == "a":
            d["x"] = torch.ones(2)
        else:
            d["x"] = torch.ones(2, device="cuda")
        for k in range(3):
            d[k] = 1
        print(d["x"] + there)
        """

    assert met(program) == ['print(d["x"] + there)']


def test_results_that_a_loop_brings_to_the_host_are_not_on_the_accelerator(analyse):
    program = """
        import numpy as np
        results = {"x": torch.ones(2, device="cuda"), "y": torch.ones(2, device="cuda")}
        for k in open("keys").read().split():
            results[k] = results[k].cpu().numpy()
        np.array([results["x"], 1.0])
        """

    assert analyse(program).host_accesses == {}


def test_items_of_unknown_data_that_a_dataset_moves_are_not_on_the_cpu(met):
    text = _program("tuple([t[i].to(device) for t in self.load()])", "pass", "0")

    assert met(text) == []
    assert met(text.replace(".to(device) for", " for")) != []


def test_dictionaries_in_a_batch_are_moved_in_place(met):
    program = """
        model = build().cuda()
        for batch in DataLoader(Dataset()):
            images, names = batch
            for image in images:
                for key, value in image.items():
                    if isinstance(value, torch.Tensor):
                        image[key] = value.cuda()
            model(images)
    """

    assert met(program) == []
    assert met(program.replace("image[key] = value.cuda()", "print(value.cuda())")) == ["model(images)"]


def test_an_attribute_is_moved_item_by_item(met):
    program = """
        class Average:
            def __init__(self, state):
                self.state = state

            def update(self, model):
                for key, value in model.state_dict().items():
                    self.state[key] = self.state[key].to(value.device)
                    self.state[key].mul_(0.9).add_(value, alpha=0.1)

        average = Average(torch.load("average.pt", map_location="cpu"))
        average.update(nn.Linear(3, 3).cuda())
    """

    assert met(program) == []
    assert len(met(program.replace(".to(value.device)", ""))) == 1


def test_an_attribute_that_may_have_been_loaded_is_moved_item_by_item(met):
    program = """
        import sys

        class Average:
            def __init__(self, model):
                self.state = {}
                for key, value in model.state_dict().items():
                    self.state[key] = value.clone()

            def load(self, state):
                self.state = state

            def update(self, model):
                for key, value in model.state_dict().items():
                    self.state[key] = self.state[key].to(value.device)
                    self.state[key].mul_(0.9).add_(value, alpha=0.1)

        model = nn.Linear(3, 3).cuda()
        average = Average(model)
        if len(sys.argv) > 1:
            average.load(torch.load("average.pt", map_location="cpu")["average"])
        average.update(model)
    """

    assert met(program) == []
    assert len(met(program.replace(".to(value.device)", ""))) == 1


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param("moved", [], id="entries-of-a-batch"),
        pytest.param('{"box": moved["box"], "sizes": torch.ones(4)}', ["net(there, entries)"], id="made-on-the-cpu"),
    ],
)
def test_entries_that_a_program_leaves_in_a_batch_are_nothing_that_unknown_code_must_use(met, entries, expected):
    program = f"""
from library import Detector

class Data(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return {{"box": torch.rand(4), "sizes": torch.rand(2)}}

net = Detector().cuda()
there = torch.ones(4).cuda()
for moved in DataLoader(Data(), batch_size=2):
    moved["box"] = moved["box"].cuda()
    entries = {entries}
    net(there, entries)
"""
    assert met(program) == expected
