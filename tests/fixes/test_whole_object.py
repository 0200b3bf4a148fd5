"""Objects with their own ``to``, such as graphs and encodings."""

from __future__ import annotations

import pytest
from misplaced_batches import misplaced_items
from small_programs import DEVICE, IMPORTS, edited, observe, sides

from devfix.fixes.tensors.whole_object import whole_object_fixes

ENCODING = """from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("a")
model = AutoModel.from_pretrained("a").to({})
"""


def fixes_in(text):
    observations = observe(text)
    return list(whole_object_fixes(observations, misplaced_items(observations)))


@pytest.mark.parametrize(
    ("listing", "title"),
    [
        pytest.param(
            '- inputs = tokenizer("x", return_tensors="pt")\n'
            '+ inputs = tokenizer("x", return_tensors="pt").to(device)\n  model(**inputs)\n',
            "move `inputs`",
            id="keywords",
        ),
        pytest.param(
            '- enc = tokenizer("x", return_tensors="pt")\n'
            '+ enc = tokenizer("x", return_tensors="pt").to(device)\n  model(enc["input_ids"])\n',
            "move `enc`",
            id="item",
        ),
    ],
)
def test_an_encoding_is_moved_at_its_construction(listing, title):
    before, after = sides(listing, DEVICE + ENCODING.format("device"))
    (fix,) = fixes_in(before)

    assert (fix.title, edited(before, fix.edits)) == (title, after)


def test_a_graph_is_moved_at_the_start_of_the_loop():
    setup = (
        f"{DEVICE}from torch_geometric.loader import DataLoader\nfrom torch_geometric.datasets import Planetoid\n"
        "net = nn.Linear(4, 2).to(device)\nloader = DataLoader(Planetoid('a', 'b'))\n"
    )
    before, after = sides("  for data in loader:\n+     data = data.to(device)\n      net(data.x)\n", setup)
    (fix,) = fixes_in(before)

    assert edited(before, fix.edits) == after


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            f"{DEVICE}net = nn.Linear(4, 2).to(device)\n"
            "for (x,) in DataLoader(TensorDataset(torch.ones(8, 4))):\n    net(x)",
            id="tensor",
        ),
        pytest.param(
            f"{DEVICE}net = nn.Linear(4, 2).to(device)\nx = torch.ones(4)\nnet(x)",
            id="created",
        ),
        pytest.param(
            f"{DEVICE}{ENCODING.format('device')}model(tokenizer('x', return_tensors='pt')['input_ids'])", id="no-name"
        ),
    ],
)
def test_values_without_an_object_of_that_kind_are_not_moved(text):
    assert fixes_in(text + "\n") == []


def test_a_program_without_an_item_has_no_fix():
    observations = observe(f"{IMPORTS}x = 1\n")

    assert list(whole_object_fixes(observations, [])) == []
