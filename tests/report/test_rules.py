"""What formats say of rules."""

import pytest

from devfix.report.rules import HOME, address, paragraph, plain
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
        assert address(rule.code) in rule.documentation.partition("## References")[2]


def test_an_unknown_rule_has_the_address_of_the_tool():
    assert address("DEV000") == HOME


def test_plain_text_has_no_marks_but_those_of_code():
    told = plain(DOCUMENTATION)

    assert told.startswith("WHAT IT DOES\nFinds x\nand moves it.\n")
    assert "\n    # a comment\n    x = `y`\n" in told
    assert "```" not in told


@pytest.mark.parametrize(
    ("text", "expected"), [(DOCUMENTATION, "Finds x and moves it."), ("# Title\n\nBody.", "Body."), ("", "")]
)
def test_the_first_paragraph_is_one_line(text, expected):
    assert paragraph(text) == expected
