"""What the function that receives an argument says of it."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("torch.einsum('ij,jk', z, x)", "tensor"),
        ("torch.gather(z, 1, index=x)", "tensor"),
        ("torch.stack((z, x))", "tensor"),
        ("z.masked_fill(x, 0)", "tensor"),
        ("z.index_add_(0, x, z)", "tensor"),
        ("torch.sum(z, dim=x)", "unknown"),
        ("F.dropout(z, x)", "number"),
        ("F.dropout(z, training=x)", "bool"),
        ("F.interpolate(z, mode=x)", "text"),
        ("torch.add(z, x)", "unknown"),
        ("torch.full((2, 3), x)", "number"),
        ("unknown(x)", "unknown"),
        ("z.unknown(x)", "unknown"),
        ("unknown(z, device=x)", "device"),
    ],
)
def test_a_parameter_of_a_model_is_a_kind(kinds, call, kind):
    assert kinds(f"def f(x, z):\n    return {call}")["x"] == kind


def test_modules_of_the_file_say_what_they_are_called_with(kinds):
    text = """
    class Inner(nn.Module):
        def forward(self, ids, scale):
            return ids.unsqueeze(0) ** int(scale)

    class Outer(nn.Module):
        def __init__(self):
            self.inner = Inner()

        def encode(self, a, b):
            return self.inner(a, b)
    """
    assert kinds(text, "encode") == {"a": "tensor", "b": "unknown"}


def test_autograd_functions_are_applied_to_what_forward_gets(kinds):
    text = """
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, size):
            return x.unsqueeze(0)

    def f(a, b):
        return Double.apply(a, b)
    """
    assert kinds(text, "f") == {"a": "tensor", "b": "unknown"}
