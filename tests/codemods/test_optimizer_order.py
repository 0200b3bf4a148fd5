"""DEV401 by example: what moves behind the move of the model, and what keeps its place."""

from __future__ import annotations

import pytest

from .listings import listings, projects

CODE = "DEV401"


@pytest.mark.parametrize("listing", listings("optimizer_order", "repaired"))
def test_the_optimizer_is_built_where_its_parameters_are_in_place(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", listings("optimizer_order", "untouched"))
def test_an_optimizer_that_is_right_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


@pytest.mark.parametrize("files", projects("optimizer_order"))
def test_only_the_file_that_builds_it_changes(files, files_before_and_after, repair):
    before, after = files_before_and_after(files)

    assert repair(CODE, before) == after
