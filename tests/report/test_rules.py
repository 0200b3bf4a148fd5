"""What formats say of rules."""

import pytest

from devfix.report.rules import HOMEPAGE, first_paragraph, help_uri, plain_text
from devfix.rules.registry import all_rules

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


def test_every_rule_has_an_address_of_its_own_documentation():
    for rule in all_rules():
        assert help_uri(rule.code) in rule.documentation.partition("## References")[2]


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
