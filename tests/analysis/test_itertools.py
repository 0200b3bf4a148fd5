"""Iterators of itertools: where their elements are."""

from __future__ import annotations

import pytest

LOOPS = {
    "accumulate": ("item", "itertools.accumulate([x, x])"),
    "accumulate-with-a-function": ("item", "itertools.accumulate([x, x], lambda a, b: a * b)"),
    "batched": ("(item, *_)", "itertools.batched([x, x], 2)"),
    "combinations": ("(_, item)", "itertools.combinations([x, x], 2)"),
    "combinations-of-unknown-number": ("(item, *_)", "itertools.combinations([x, x], int(input()))"),
    "compress": ("item", "itertools.compress([x], [1])"),
    "dropwhile": ("item", "itertools.dropwhile(lambda each: each.any(), [x])"),
    "filterfalse": ("item", "itertools.filterfalse(None, [x])"),
    "groupby": ("(_, (item, *_))", "itertools.groupby([x], key=len)"),
    "pairwise": ("(item, _)", "itertools.pairwise([x, x])"),
    "permutations": ("(item, *_)", "itertools.permutations([x, x])"),
    "product": ("(_, item)", "itertools.product(range(3), [x])"),
    "product-repeated": ("(item, *_)", "itertools.product([x], repeat=2)"),
    "repeat": ("item", "itertools.repeat(x, 3)"),
    "starmap": ("item", "itertools.starmap(lambda number, each: each, [(1, x)])"),
    "takewhile": ("item", "itertools.takewhile(lambda each: each.any(), [x])"),
    "tee": ("item", "itertools.tee([x])[1]"),
}


@pytest.mark.parametrize(("target", "iterator"), LOOPS.values(), ids=LOOPS)
def test_the_elements_of_an_iterator_are_where_those_of_its_argument_are(met, target, iterator):
    program = f"""
        import itertools

        x = torch.ones(3){{moved}}
        for {target} in {iterator}:
            print(item + torch.ones(3).cuda())
        """

    assert met(program.format(moved="")) == ["print(item + torch.ones(3).cuda())"]
    assert met(program.format(moved=".cuda()")) == []


@pytest.mark.parametrize("call", ["accumulate()", "batched()", "combinations()", "pairwise()", "starmap(len)", "tee()"])
def test_a_call_without_its_arguments_says_nothing(met, call):
    assert met(f"import itertools\nfor item in itertools.{call}:\n    print(item + torch.ones(3).cuda())\n") == []
