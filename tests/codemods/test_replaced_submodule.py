"""DEV201 by example: where the second move goes, how it is written, and what is left alone."""

from __future__ import annotations

import pytest

from .listings import listings, projects

CODE = "DEV201"


@pytest.mark.parametrize("listing", listings("replaced_submodule", "repaired"))
def test_the_model_moves_again_after_its_last_change(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", listings("replaced_submodule", "untouched"))
def test_a_model_that_is_in_place_stays_as_it_is(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


@pytest.mark.parametrize("files", projects("replaced_submodule"))
def test_only_the_file_where_the_move_belongs_changes(files, files_before_and_after, repair):
    before, after = files_before_and_after(files)

    assert repair(CODE, before) == after
