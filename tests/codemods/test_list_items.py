"""Lists of accelerator tensors: what is added to them, and how the items are used."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, observe

from codemods.host._list_items import ItemUse, ListAppend, appends_to, uses_of_items

SETUP = f"{DEVICE}x = torch.ones(3, device=device)\nitems = []\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("items.append(x)", ["x"], id="append"),
        pytest.param("for _ in range(3):\n    items.append(x.sum())", ["x.sum()"], id="recorded-once"),
        pytest.param("items = [x * i for i in range(3)]", ["x * i"], id="comprehension"),
        pytest.param("items.append(x.cpu())", [], id="on-the-cpu"),
        pytest.param("items.append(x.tolist())", [], id="numbers"),
    ],
)
def test_added_tensors_are_recorded(text, expected):
    appends = observe(f"{SETUP}{text}\n").of(ListAppend)

    assert [append.point.tree.source(append.expression) for append in appends] == expected


def test_uses_of_items_are_recorded_for_their_list():
    text = "items.append(x)\nothers = []\nothers.append(x)\nitems[0].item()\nothers[0] + others[0]\n"
    observations = observe(SETUP + text)
    first, second = (append.container for append in observations.of(ListAppend))

    assert uses_of_items(observations, {first}) == {"item"}
    assert uses_of_items(observations, {second}) == {"operand"}
    assert [append.container for append in appends_to(observations, {second, first})] == [first, second]
    assert len(observations.of(ItemUse)) == 2
