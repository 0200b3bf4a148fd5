"""Containers whose elements are moved by one comprehension."""

from __future__ import annotations

import pytest
from misplaced_batches import misplaced_items
from small_programs import DEVICE, edited, observe, sides

from devfix.analysis.domain.values import Pointer, Tensor
from devfix.analysis.stdlib.containers import DictObject
from devfix.fixes.tensors.comprehensions import move_container, value_of_binding

SETUP = f"""{DEVICE}net = nn.Linear(4, 2).to(device)

class Pairs(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {{sample}}

loader = DataLoader(Pairs())
"""
DICTIONARY = "{'a': torch.ones(4), 'b': torch.ones(4)}"


def plan(text):
    observations = observe(text)
    return move_container(observations, misplaced_items(observations)[0], [])


@pytest.mark.parametrize(
    ("sample", "listing"),
    [
        pytest.param(
            DICTIONARY,
            "  for b in loader:\n+     b = {k: v.to(device) for k, v in b.items()}\n      net(b['a'])\n",
            id="dictionary",
        ),
        pytest.param(
            "(torch.ones(4), torch.ones(4))",
            "  for items in loader:\n+     items = [item.to(device) for item in items]\n      net(items[0])\n",
            id="tuple",
        ),
    ],
)
def test_all_elements_are_moved_under_the_name_of_the_container(sample, listing):
    before, after = sides(listing, SETUP.format(sample=sample))
    (planned,) = plan(before)

    assert edited(before, [planned.edit]).replace(", non_blocking=True", "") == after


@pytest.mark.parametrize(
    ("sample", "use"),
    [
        pytest.param("{'a': torch.ones(4), 'name': 'x'}", "net(batch['a'])", id="text"),
        pytest.param("torch.ones(4)", "net(batch)", id="tensor"),
        pytest.param("(torch.ones(4), 'x')", "net(batch[0])", id="mixed-tuple"),
    ],
)
def test_a_container_with_other_values_is_not_moved(sample, use):
    assert plan(f"{SETUP.format(sample=sample)}for batch in loader:\n    {use}\n") is None


def test_a_container_with_a_moved_element_is_not_moved_again():
    text = SETUP.format(sample=DICTIONARY) + "for b in loader:\n    y = b['b'].to(device)\n    net(b['a'])\n"
    observations = observe(text)
    item = misplaced_items(observations)[0]

    assert move_container(observations, item, []) is not None
    assert move_container(observations, item, observations.transfers) is None


@pytest.mark.parametrize(
    ("sample", "kind"), [(DICTIONARY, Pointer), ("torch.ones(4)", Tensor)], ids=["dictionary", "tensor"]
)
def test_the_value_of_a_name_is_read_after_its_binding(sample, kind):
    use = "batch['a']" if kind is Pointer else "batch"
    observations = observe(f"{SETUP.format(sample=sample)}for batch in loader:\n    net({use})\n")
    binding = next(binding for binding in observations.bindings if binding.name == "batch")
    value, state = value_of_binding(observations, binding)

    assert isinstance(value, kind)
    assert kind is Tensor or isinstance(state.heap_object(value), DictObject)
