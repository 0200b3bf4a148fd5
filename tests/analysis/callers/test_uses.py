"""What the uses in a body say of an argument."""

from __future__ import annotations

import pytest

from devfix.analysis.callers.kinds import Kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("x.unsqueeze(0)", "tensor"),
        ("x.detach()", "tensor"),
        ("x.requires_grad", "tensor"),
        ("x.size(0)", "tensor"),
        ("x.view(-1, 3)", "tensor"),
        ("x.sum(dim=1)", "tensor"),
        ("x.add_(1)", "tensor"),
        ("y = x\ny.permute(0, 2, 1)", "tensor"),
        ("x = x.float()\nx.unsqueeze(0)", "tensor"),
        ("x = 2 * x / 3\nF.relu(x)", "tensor"),
        ("x = x[:, 0].cpu()\nF.relu(x)", "tensor"),
        ("F.relu(x)", "tensor"),
        ("x.shape", "tensor"),
        ("x.mean()", "tensor"),
        ("x[:, None]", "tensor"),
        ("x @ z", "tensor"),
        ("F.cross_entropy(z, x)", "tensor"),
        ("F.cross_entropy(z, target=x)", "tensor"),
        ("z.matmul(x)", "tensor"),
        ("torch.cat([x, z], dim=0)", "tensor"),
        ("def inner():\n    return x.detach()", "tensor"),
        ("torch.cat(x, dim=0)", "tensors"),
        ("[each.detach() for each in x]", "tensors"),
        ("for i, each in enumerate(x):\n    F.relu(each)", "tensors"),
        ("range(x)", "number"),
        ("z.sum(x)", "unknown"),
        ("torch.cat(z, dim=x)", "number"),
        ("z[:, :x]", "number"),
        ("x.startswith('a')", "text"),
        ("x == 'mean'", "text"),
        ("x in ('mean', 'sum')", "text"),
        ("torch.zeros(3, device=x)", "device"),
        ("torch.zeros(3, dtype=x)", "dtype"),
        ("x(3)", "callable"),
        ("x.state_dict()", "module"),
        ("x.astype(float)", "array"),
        ("torch.from_numpy(x)", "array"),
    ],
)
def test_a_use_shows_a_kind(kinds, body, kind):
    indented = body.replace("\n", "\n    ")
    assert kinds(f"def f(x, z):\n    {indented}")["x"] == kind


@pytest.mark.parametrize(
    "body",
    [
        "x.shape\nnp.ones(3)",
        "x.mean()\nnp.ones(3)",
        "x.device",
        "x + 1",
        "x[0]",
        "x.to(z)",
        "np.exp(x)",
        "x.unsqueeze(0)\nx.edge_index",
        "x.unsqueeze(0)\nnp.exp(x)",
        "x.unsqueeze(0)\nx['key']",
        "x.unsqueeze(0)\nx == 'mean'",
        "x = torch.tensor(x)\nx.unsqueeze(0)",
        "x = x[0]\nx.unsqueeze(0)",
        "x = z * x\nx.unsqueeze(0)",
        "for x in z:\n    x.unsqueeze(0)",
        "lambda x: x.unsqueeze(0)",
        "[x.unsqueeze(0) for x in z]",
    ],
)
def test_no_use_shows_a_tensor(kinds, body):
    indented = body.replace("\n", "\n    ")
    assert kinds(f"def f(x, z):\n    {indented}")["x"] not in ("tensor", "tensors")


def test_a_layer_of_the_class_is_called_with_tensors(kinds):
    text = """
    class Block(nn.Module):
        def __init__(self):
            self.linear = nn.Linear(3, 3)

        def encode(self, x, name):
            self.log(name)
            return self.linear(x)
    """
    assert kinds(text) == {"x": "tensor", "name": "unknown"}


def test_arguments_are_passed_on(kinds):
    text = """
    def inner(x, size):
        return x.view(-1, 3), range(size)

    def middle(x, size):
        return inner(x, size=size)

    def f(a, b):
        return middle(a, b)
    """
    assert kinds(text) == {"a": "tensor", "b": "number"}


def test_functions_that_call_each_other_come_to_an_end(kinds):
    text = """
    def even(x):
        return odd(x)

    def odd(x):
        return even(x) + x.detach()
    """
    assert kinds(text, "even") == kinds(text, "odd") == {"x": "tensor"}


def test_an_argument_named_like_a_class_is_no_tensor(kinds):
    text = """
    from .structures import Boxes

    def f(boxes, x):
        return boxes.clone(), x.clone()
    """
    assert kinds(text) == {"boxes": "unknown", "x": "tensor"}


def test_a_comparison_with_none_makes_an_argument_optional(arguments):
    argument = arguments("def f(x):\n    if x is not None:\n        x.detach()")["x"]
    assert argument.optional and argument.kind is Kind.TENSOR


def test_deep_nesting_is_no_error(kinds):
    assert kinds(f"def f(x):\n    x.detach()\n    return {' + '.join(['x'] * 900)}") == {"x": "tensor"}
