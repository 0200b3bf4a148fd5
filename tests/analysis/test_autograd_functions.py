"""Functions with a gradient of their own: both passes are followed."""

from __future__ import annotations

import textwrap

import pytest

PROGRAM = """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return {forward}

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return {backward}, None


factor = torch.ones(3)
x = torch.ones(3, requires_grad=True, device="cuda")
{use}
"""


@pytest.mark.parametrize(
    ("forward", "backward", "use", "lines"),
    [
        pytest.param("x * factor", "grad", "Scale.apply(x, factor)", ["return x * factor"], id="forward"),
        pytest.param(
            "x * 2", "grad * ctx.factor", "Scale.apply(x, factor)", ["return grad * ctx.factor, None"], id="backward"
        ),
        pytest.param("x * 2", "grad * x.cpu()", "Scale.apply(x, 1)", ["return grad * x.cpu(), None"], id="saved"),
        pytest.param(
            "x * 2",
            "grad",
            "scale = Scale.apply\nprint(scale(x, 1) + factor)",
            ["print(scale(x, 1) + factor)"],
            id="result",
        ),
        pytest.param(
            "x * 2", "grad * ctx.factor", "with torch.no_grad():\n    Scale.apply(x, factor)", [], id="no-gradient"
        ),
        pytest.param("x * 2", "grad * x", "Scale.apply(x, factor)", [], id="right"),
    ],
)
def test_a_function_is_applied_and_goes_back(met, forward, backward, use, lines):
    assert met(PROGRAM.format(forward=forward, backward=backward, use=use)) == lines


def test_a_context_may_be_set_up_apart(met):
    program = """
        class Scale(torch.autograd.Function):
            @staticmethod
            def forward(x, factor):
                return x * 2

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.factor = inputs[1]

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.factor, None

        Scale.apply(torch.ones(3, requires_grad=True).cuda(), torch.ones(3))
        """

    assert met(program) == ["return grad * ctx.factor, None"]


def test_a_pass_that_ends_the_program_does_not_end_it_before(met):
    program = """
        import sys

        class Stop(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, grad):
                sys.exit(ctx.missing + len(ctx.needs_input_grad))

        print(Stop.apply(torch.ones(3, requires_grad=True).cuda()) + torch.ones(3))
        """

    assert met(textwrap.dedent(program)) == [
        "print(Stop.apply(torch.ones(3, requires_grad=True).cuda()) + torch.ones(3))"
    ]


def test_a_class_without_a_forward_says_nothing(met):
    assert met("class Empty(torch.autograd.Function):\n    pass\n\nprint(Empty.apply(torch.ones(3)))\n") == []
