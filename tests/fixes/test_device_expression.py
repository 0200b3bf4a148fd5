"""Orders of sources, and the expressions that a scope yields in them."""

from __future__ import annotations

import pytest

from devfix.fixes.device_expression import (
    BESIDE_TENSOR,
    FOR_BATCH,
    FOR_MODULE,
    FOR_MOVE,
    FOR_TENSOR,
    FOR_TRIAL,
    Query,
    Source,
    device_expression,
    device_expressions,
)


class FakeScope:
    """A scope with fixed expressions, which records its queries."""

    def __init__(self, found: dict[Source, list[str]]) -> None:
        self.found = found
        self.asked: list[tuple[Source, Query]] = []

    def expressions(self, source: Source, query: Query) -> list[str]:
        self.asked.append((source, query))
        return self.found.get(source, [])


FOUND = {
    Source.LIVE: ["device", "args.device"],
    Source.MOVES: ["args.device"],
    Source.OPERAND: ["x.device", "device"],
    Source.LITERAL: ['"cuda"'],
}


@pytest.mark.parametrize(
    ("order", "expressions"),
    [
        pytest.param((Source.LIVE,), ["device", "args.device"], id="one-source"),
        pytest.param((Source.MOVES, Source.LIVE), ["args.device", "device"], id="first-occurrence-counts"),
        pytest.param(
            (Source.OPERAND, Source.LITERAL, Source.LIVE),
            ["x.device", "device", '"cuda"', "args.device"],
            id="three-sources",
        ),
        pytest.param((Source.MODULE,), [], id="nothing-in-the-source"),
        pytest.param((), [], id="no-source"),
    ],
)
def test_the_expressions_follow_the_order_of_the_sources_without_repetitions(order, expressions):
    assert list(device_expressions(FakeScope(FOUND), order)) == expressions


@pytest.mark.parametrize(
    ("order", "best"),
    [
        (FOR_TENSOR, "args.device"),
        (BESIDE_TENSOR, "args.device"),
        (FOR_MOVE, "device"),
        (FOR_BATCH, "device"),
        (FOR_MODULE, "device"),
        (FOR_TRIAL, "device"),
        ((Source.PARAMETERS, Source.MODULE), None),
    ],
    ids=["tensor", "beside-tensor", "move", "batch", "module", "trial", "nothing"],
)
def test_each_kind_of_edit_has_its_best_expression(order, best):
    assert device_expression(FakeScope(FOUND), order) == best


def test_no_further_source_is_searched_after_the_first_expression():
    scope = FakeScope(FOUND)

    device_expression(scope, (Source.SIMILAR, Source.LIVE, Source.OPERAND))

    assert [source for source, _ in scope.asked] == [Source.SIMILAR, Source.LIVE]


def test_every_source_receives_the_query():
    scope, query = FakeScope({}), Query(like="args.device", partners=("x",))

    assert device_expression(scope, FOR_MOVE, query) is None
    assert {received for _, received in scope.asked} == {query}


def test_a_literal_is_used_only_for_batches_and_modules():
    literals = {Source.LITERAL, Source.FILE_LITERAL}

    assert [bool(literals & set(order)) for order in (FOR_TENSOR, BESIDE_TENSOR, FOR_MOVE, FOR_TRIAL)] == [False] * 4
    assert [bool(literals & set(order)) for order in (FOR_BATCH, FOR_MODULE)] == [True] * 2
