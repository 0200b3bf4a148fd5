"""The names of patterns are bound to the parts of the subject."""

from __future__ import annotations

import pytest

CASES = {
    "mapping": ("{'a': 1, 'x': x}", "{'x': item}"),
    "rest-of-a-mapping": ("{'a': 1, 'x': x}", "{'a': _, **rest}"),
    "sequence": ("[1, x]", "[_, item]"),
    "start-of-a-sequence": ("(x, 1, 2)", "[item, *_]"),
    "end-of-a-sequence": ("(1, 2, x)", "[*_, item]"),
    "rest-of-a-sequence": ("(1, x)", "[_, *items]"),
    "sequence-of-unknown-length": ("[x for _ in open('names')]", "[item, *_]"),
    "attribute": ("Pair(x, 1)", "Pair(first=item)"),
    "position": ("Pair(1, x)", "Pair(_, item)"),
    "position-of-a-named-tuple": ("Row(1, x)", "Row(_, item)"),
    "class-of-pytorch": ("x", "torch.Tensor() as item"),
    "nested": ("{'a': [1, Pair(x, 2)]}", "{'a': [1, Pair(item)]}"),
    "one-of-several": ("[1, x]", "[_, _, item] | [_, item]"),
    "anything": ("x", "item"),
}


@pytest.mark.parametrize(("subject", "pattern"), CASES.values(), ids=CASES)
def test_a_name_is_bound_to_its_part(met, subject, pattern):
    item = "rest['x']" if "rest" in pattern else "items[0]" if "items" in pattern else "item"
    program = f"""
        import dataclasses
        from typing import NamedTuple

        @dataclasses.dataclass
        class Pair:
            first: object
            second: object

        class Row(NamedTuple):
            first: object
            second: object

        x = torch.ones(3)MOVED
        match {subject}:
            case {pattern}:
                print({item} + torch.ones(3).cuda())
        """

    assert met(program.replace("MOVED", "")) == [f"print({item} + torch.ones(3).cuda())"]
    assert met(program.replace("MOVED", ".cuda()")) == []


@pytest.mark.parametrize("pattern", ["{'b': item}", "[item]", "Other(item)", "Other(first=item)"])
def test_a_part_that_is_not_known_is_unknown(met, pattern):
    program = f"""
        from elsewhere import Other, load

        match load():
            case {pattern}:
                print(item + torch.ones(3).cuda())
        """

    assert met(program) == []
