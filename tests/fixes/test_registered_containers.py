"""Python containers in modules, and the registered containers that replace them."""

from __future__ import annotations

import pytest
from small_programs import edited, observe, parts_in

from devfix.analysis.domain.values import Pointer, TupleValue
from devfix.fixes.modules.registered_containers import (
    contents_problem,
    holds_parameters,
    is_nested,
    is_nested_display,
    registered_container,
    replace_expression,
    torch_nn_prefix,
    use_problem,
)
from devfix.syntax.tree import SourceTree


def expression_in(text):
    tree = SourceTree("t.py", text)
    return tree, tree.tree.body[0].value


@pytest.mark.parametrize(
    ("text", "mapping", "code"),
    [
        ("[a, b]", False, "nn.ModuleList([a, b])"),
        ("(a, b,)", False, "nn.ModuleList([a, b])"),
        ("[f(i) for i in n]", False, "nn.ModuleList([f(i) for i in n])"),
        ("[]", False, "nn.ModuleList()"),
        ("list()", False, "nn.ModuleList()"),
        ("list(a)", False, "nn.ModuleList(a)"),
        ("list(f(i) for i in n)", False, "nn.ModuleList(f(i) for i in n)"),
        ("{'a': a}", True, "nn.ModuleDict({'a': a})"),
        ("{}", True, "nn.ModuleDict()"),
        ("[[a], (b, c)]", False, "nn.ModuleList([nn.ModuleList([a]), nn.ModuleList([b, c])])"),
        ("{'a': [b]}", True, "nn.ModuleDict({'a': nn.ModuleList([b])})"),
        ("make()", False, "nn.ModuleList(make())"),
    ],
)
def test_a_container_becomes_a_registered_one(text, mapping, code):
    tree, node = expression_in(text)

    assert registered_container(tree, node, mapping, "nn.") == code
    assert edited(text, [replace_expression(tree, node, code)]) == code


@pytest.mark.parametrize("text", ["defaultdict(list)", "collections.deque([a])"])
def test_other_containers_have_no_simple_replacement(text):
    assert registered_container(*expression_in(text), mapping=False, prefix="nn.") is None


def test_parameters_are_collected_in_a_parameter_list():
    assert registered_container(*expression_in("[a]"), False, "", "Parameter") == "ParameterList([a])"


@pytest.mark.parametrize(
    ("text", "nested"),
    [("[[a], [b]]", True), ("[]", True), ("{'a': [b]}", True), ("[[a], b]", False), ("[a]", False), ("f()", False)],
)
def test_a_nested_display_has_only_displays(text, nested):
    assert is_nested_display(expression_in(text)[1]) is nested


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ("[nn.Linear(4, 2)]", None),
        ("[nn.Linear(4, 2), None]", None),
        ("[nn.Linear(4, 2), [nn.Linear(2, 2)]]", None),
        ("[nn.Linear(4, 2), 3]", "it also holds values that are not modules"),
        ("[nn.Linear(4, 2), {'a.b': nn.Linear(2, 2)}]", "`a.b` cannot be a key of a ModuleDict"),
        ("[nn.Linear(4, 2), {'type': nn.Linear(2, 2)}]", "`type` cannot be a key of a ModuleDict"),
        ("[nn.Linear(4, 2), {1: nn.Linear(2, 2)}]", "its keys are not strings, but a ModuleDict takes only strings"),
    ],
)
def test_only_modules_under_valid_keys_can_be_registered(parts, problem):
    _, state, value, _ = parts_in(parts)

    assert contents_problem(state, value) == problem


@pytest.mark.parametrize(
    ("parts", "nested", "parameters"),
    [
        ("[nn.Linear(4, 2)]", False, False),
        ("[nn.Linear(4, 2), [nn.Linear(4, 2)]]", True, False),
        ("[nn.Parameter(torch.ones(4))]", False, True),
        ("[nn.Parameter(torch.ones(4)), nn.Linear(4, 2)]", False, False),
    ],
    ids=["modules", "nested", "parameters", "mixed"],
)
def test_the_contents_of_a_container(parts, nested, parameters):
    result = "self.parts[0] + x" if "Parameter" in parts else "self.parts[0](x)"
    _, state, value, _ = parts_in(parts, result)

    assert isinstance(value, (Pointer, TupleValue))
    assert is_nested(state, value) is nested
    assert holds_parameters(state, value) is parameters


@pytest.mark.parametrize(
    ("use", "mapping", "problem"),
    [
        ("self.parts.append(1)", False, None),
        ("self.parts + [1]", False, None),
        ("self.parts.keys()", True, None),
        ("self.parts.sort()", False, "the class calls `self.parts.sort()`, which a ModuleList does not have"),
        ("self.parts.get('a')", True, "the class calls `self.parts.get()`, which a ModuleDict does not have"),
        ("[1] + self.parts", False, "the class computes `[1] + self.parts`, which a ModuleList does not support"),
        ("self.parts * 2", False, "the class computes `self.parts * 2`, which a ModuleList does not support"),
        ("isinstance(self.parts, list)", False, "the class checks `isinstance(self.parts, list)`"),
    ],
)
def test_a_use_that_a_registered_container_lacks_is_a_problem(use, mapping, problem):
    _, _, _, cls = parts_in("[nn.Linear(4, 2)]", f"self.parts[0](x), {use}")

    assert use_problem(cls, "parts", mapping) == problem


@pytest.mark.parametrize(
    ("imports", "prefix", "first_line"),
    [
        ("import torch\nfrom torch import nn", "nn.", None),
        ("import torch\nimport torch.nn as tn", "tn.", None),
        ("import torch", "torch.nn.", None),
        ("import torch\nfrom torch.nn import ModuleList", "", None),
        ("from torch.nn import Linear\nimport torch", "", "from torch.nn import Linear, ModuleList"),
        ("from torch.nn import (Linear)\nimport torch", "", "from torch.nn import (Linear)"),
    ],
    ids=["nn", "alias", "torch", "class", "extended-import", "second-import"],
)
def test_the_prefix_follows_the_imports_of_the_file(imports, prefix, first_line):
    text = f"{imports}\ntorch.ones(3).cuda() + torch.ones(3)\n"
    found, edits = torch_nn_prefix(observe(text).mismatches[0].point, "ModuleList")

    assert found == prefix
    assert edited(text, edits).splitlines()[0] == (first_line or text.splitlines()[0])
    assert ("ModuleList" in edited(text, edits)) is ("ModuleList" in text or first_line is not None)


def test_without_an_import_of_torch_there_is_no_prefix():
    text = "from math import pi\nimport torch as torch_\nx = torch_.ones(3).cuda() + torch_.ones(3)\n"
    point = observe(text).mismatches[0].point

    assert torch_nn_prefix(point, "ModuleList") == ("torch_.nn.", [])
    text = "from torch import ones\nx = ones(3).cuda() + ones(3)\n"
    assert torch_nn_prefix(observe(text).mismatches[0].point, "ModuleList") is None
