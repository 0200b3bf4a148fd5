"""The identity of composed strings."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.domain.values import Const, Number, Text, Unknown
from devfix.analysis.stdlib.texts import composed, text_key

NODE = ast.parse("a + b", mode="eval").body


def test_equal_parts_make_equal_strings():
    one, two = (composed([Const("runs/"), Unknown("args.name")], NODE) for _ in range(2))

    assert one == two
    assert one != composed([Const("runs/"), Unknown("args.other")], NODE)


def test_a_part_without_a_key_is_known_by_its_place():
    elsewhere = ast.parse("\n\na + b", mode="eval").body

    assert composed([Const("a"), Number()], NODE) == composed([Const("a"), Number()], NODE)
    assert composed([Const("a"), Number()], NODE) != composed([Const("a"), Number()], elsewhere)


def test_the_key_of_a_literal_differs_from_that_of_a_name():
    assert text_key(Const("args")) != text_key(Text("args"))
    assert text_key(Number()) == ""


@pytest.mark.parametrize(
    ("expression", "device"),
    [
        ("'CUDA:0'.lower()", "accelerator"),
        ("str('').strip().replace('none', '') or 'cuda'", "accelerator"),
        ("'cuda'.replace('cuda', 'cpu')", "cpu"),
        ("'[cpu]'.strip('[]')", "cpu"),
    ],
)
def test_strings_are_computed(place, expression, device):
    assert place(f"x = torch.ones(3, device={expression})", "x") == device


@pytest.mark.parametrize(
    "path", ["'out/' + name", "name + '.npz'", "name.replace('.png', '.npz')", "'%s.npz' % name", "name.lower()"]
)
def test_a_string_that_is_made_of_an_item_of_a_batch_is_no_tensor(analyse, path):
    program = f"""
        import numpy as np
        from accelerate import Accelerator
        from data import Images
        loader = Accelerator().prepare(DataLoader(Images()))
        for image, names in loader:
            for name in names:
                np.savez({path}, image.cpu())
        """

    assert not analyse(program).host_accesses
