"""What formats say of rules."""

import dataclasses
import sys
from pathlib import Path

import pytest

from devfix.report.rules import HOMEPAGE, first_paragraph, help_uri, plain_text
from devfix.rules import plugins
from devfix.rules.registry import all_rules
from devfix.site import page_url

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from reference_pages.rules import pages as rule_pages

DOCUMENTATION = """
## What it does
Finds `x`
and moves it.

## Example
```python
# a comment
x = `y`
```

## References
- [one](https://example.org/one), [two](https://example.org/two)
"""


def test_the_address_of_a_rule_is_its_page_of_the_documentation():
    addresses = {help_uri(rule.code) for rule in all_rules()}

    assert addresses == {page_url(name.removesuffix(".md")) for name in rule_pages() if not name.endswith("index.md")}


def test_a_rule_of_a_plugin_has_the_address_of_its_first_reference(monkeypatch):
    (rule, *_) = all_rules()
    own = dataclasses.replace(rule, code="OWN1", documentation=DOCUMENTATION)
    monkeypatch.setattr(plugins, "plugin_rules", lambda: (own,))

    assert help_uri("OWN1") == "https://example.org/one"


def test_an_unknown_rule_has_the_address_of_the_tool():
    assert help_uri("DEV000") == HOMEPAGE


def test_plain_text_has_no_marks_but_those_of_code():
    told = plain_text(DOCUMENTATION)

    assert told.startswith("WHAT IT DOES\nFinds x\nand moves it.\n")
    assert "\n    # a comment\n    x = `y`\n" in told
    assert "```" not in told


@pytest.mark.parametrize(
    ("text", "expected"), [(DOCUMENTATION, "Finds x and moves it."), ("# Title\n\nBody.", "Body."), ("", "")]
)
def test_the_first_paragraph_is_one_line(text, expected):
    assert first_paragraph(text) == expected
