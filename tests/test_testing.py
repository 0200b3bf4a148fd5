"""The helpers for people who test rules of their own: they pass what is right and refuse what is not."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from devfix.model import Fix, ReplaceExpression
from devfix.rules.registry import all_rules, builtin_rules, rule_for
from devfix.testing import RuleTest

sys.path.append(str(Path(__file__).parent / "data" / "plugin"))

from acme_rules import RULES  # the example package lies beside the tests

(RULE,) = RULES
BEFORE = "import torch\n\nfor n in range(3):\n    x = torch.ones(n)\n    print(x.cuda())  # shown\n"
AFTER = BEFORE.replace("x.cuda()", 'x.to("cuda")')


def test_examples_are_true():
    RuleTest(RULE).assert_examples()


def test_a_rule_of_devfix_can_be_tested_too():
    RuleTest(rule_for("DEV105")).assert_examples()


def test_a_repair_is_as_it_is_told():
    RuleTest(RULE).assert_fixed(BEFORE, AFTER)


def test_files_that_import_each_other():
    entry = "import torch\nfrom parts import made\n\nprint(torch.sum(made()))\n"
    parts = "import torch\n\n\ndef made():\n    return torch.ones(3).cuda()\n"

    RuleTest(RULE).assert_fixed(
        {"train.py": entry, "parts.py": parts}, {"train.py": entry, "parts.py": parts.replace(".cuda()", '.to("cuda")')}
    )


@pytest.mark.parametrize(
    "after",
    [pytest.param(BEFORE, id="nothing-happens"), pytest.param(AFTER.replace("shown", "seen"), id="another-text")],
)
def test_another_result_fails(after):
    with pytest.raises(AssertionError, match=r"train\.py becomes"):
        RuleTest(RULE).assert_fixed(BEFORE, after)


def test_a_finding_in_clean_code_fails():
    with pytest.raises(AssertionError, match="unexpected findings"):
        RuleTest(RULE).assert_clean(BEFORE)


def test_an_edit_that_no_line_asks_for_fails():
    def detect(facts):
        for finding in RULE.detect(facts):
            (fix,) = finding.fixes
            (edit,) = fix.edits
            wide = replace(edit.expression, line=4, end_line=4, column=8, end_column=21)
            if finding.span.line == 5:
                first = ReplaceExpression(edit.path, wide, "torch.ones(n)  + 0")
                yield replace(finding, fixes=(Fix("two", (edit, first)),))

    rule = replace(RULE, detect=detect)

    with pytest.raises(AssertionError):
        RuleTest(rule).assert_fixed(BEFORE, AFTER)


def test_a_test_leaves_no_rule_behind():
    RuleTest(RULE).assert_clean("print(1)\n")

    assert all_rules() == builtin_rules()
