"""The pages about error messages, as the command finds them."""

import sys
from pathlib import Path

import pytest

from devfix.report import error_pages
from devfix.verify.probe.messages import FAMILIES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_a_page_is_found_by_its_name_its_family_and_each_message(family):
    assert error_pages.page_for(family.page) == family.page
    assert error_pages.page_for(family.name) == family.page
    assert {error_pages.page_for(wording.text) for wording in family.wordings} == {family.page}


def test_nothing_else_has_a_page():
    assert error_pages.page_for("index") == "index-on-another-device", "a family, not the list of all pages"
    assert error_pages.page_for("DEV101") is None
    assert error_pages.page_for("../../README") is None


def test_the_wheel_brings_the_pages_to_where_they_are_looked_for():
    target = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    packaged = error_pages._PACKAGED.relative_to(ROOT).as_posix()
    assert target["wheel"]["force-include"]["docs/errors"] == packaged


def test_a_rule_leads_to_its_own_messages_before_those_that_are_alike():
    pages = error_pages.pages_for(("same-device", "load"))
    assert set(list(pages)[:2]) == {"expected-all-tensors-on-same-device", "deserialize-object-on-cuda-device"}
    assert "placeholder-storage-mps" in pages
    assert error_pages.pages_for(("load",)) == error_pages.pages_for(("load",), with_alike=False)
    assert error_pages.pages_for(()) == {}
