"""What defaults say of an argument."""

from __future__ import annotations

import pytest

from devfix.analysis.callers.kinds import Evidence, Kind


@pytest.mark.parametrize(
    ("default", "kind"),
    [
        ("0.1", "number"),
        ("-1", "number"),
        ("2 ** 0.5", "number"),
        ("True", "bool"),
        ("'mean'", "text"),
        ("()", "list"),
        ("[1, 2]", "list"),
        ("lambda x: x", "callable"),
        ("None", "unknown"),
        ("DEFAULT", "unknown"),
    ],
)
def test_a_default_is_a_kind(kinds, default, kind):
    assert kinds(f"def f(x={default}): ...") == {"x": kind}


def test_none_makes_an_argument_optional(arguments):
    assert arguments("def f(x=None): ...")["x"].optional
    assert not arguments("def f(x): ...")["x"].optional


def test_an_annotation_is_stronger(arguments):
    argument = arguments("def f(x: Tensor = 0): ...")["x"]
    assert argument.kind is Kind.TENSOR and argument.evidence is Evidence.ANNOTATION


def test_a_tensor_of_a_docstring_may_be_the_number_of_its_default(arguments):
    text = 'def f(x={}):\n    """Do.\n\n    Args:\n        x (torch.Tensor): scale.\n    """'
    assert arguments(text.format("0.1"))["x"].alternatives == {Kind.NUMBER}
    assert not arguments(text.format("None"))["x"].alternatives
