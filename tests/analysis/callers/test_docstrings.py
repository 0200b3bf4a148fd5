"""What docstrings say of an argument."""

from __future__ import annotations

import pytest

GOOGLE = "Do it.\n\n    Args:\n        x ({}): Some words.\n\n    Returns:\n        x: nothing\n"
NUMPY = "Do it.\n\n    Parameters\n    ----------\n    x : {}\n        Some words.\n"
SPHINX = "Do it.\n\n    :param x: Some words.\n    :type x: {}\n"
TYPE_AHEAD = "Do it.\n\n    :param x: ({}) Some words.\n"
DESCRIBED = "Do it.\n\n    Args:\n        x: {}\n"


@pytest.mark.parametrize("style", [GOOGLE, NUMPY, SPHINX, TYPE_AHEAD])
@pytest.mark.parametrize(
    ("documented", "kind"),
    [
        ("Tensor", "tensor"),
        ("torch.Tensor, optional", "tensor"),
        (":class:`torch.Tensor`", "tensor"),
        ("Tensor or float", "tensor"),
        ("`torch.FloatTensor` of shape `(batch, length)`", "tensor"),
        ("list of Tensors", "tensors"),
        ("np.ndarray", "array"),
        ("array_like", "array"),
        ("int, default 3", "number"),
        ("str or None", "text"),
        ("Boxes", "unknown"),
    ],
)
def test_a_documented_type_is_a_kind(kinds, style, documented, kind):
    assert kinds(f'def f(x):\n    """{style.format(documented)}    """') == {"x": kind}


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("the input tensor of shape (N, C)", "tensor"),
        ("A float tensor", "tensor"),
        ("Tensor with the labels", "tensor"),
        ("list of tensors", "tensors"),
        ("Tensor (N, C)", "tensor"),
        ("tensor key of the scores", "unknown"),
        ("tensor or list", "unknown"),
        ("the size of the tensor", "unknown"),
        ("whether the tensor is copied", "unknown"),
        ("a function that takes a tensor", "unknown"),
        ("tensors to add", "unknown"),
    ],
)
def test_the_head_of_a_description_is_a_kind(kinds, description, kind):
    assert kinds(f'def f(x):\n    """{DESCRIBED.format(description)}    """') == {"x": kind}


def test_the_docstring_of_a_class_describes_its_constructor(kinds):
    text = '''
    class Loss(nn.Module):
        """A loss.

        Args:
            weight (Tensor): the weights
        """

        def __init__(self, weight): ...
    '''
    assert kinds(text) == {"weight": "tensor"}


def test_a_documented_class_is_stronger_than_the_description(kinds):
    text = DESCRIBED.replace("x:", "x (NestedKey, optional):").format("the tensor of scores")
    assert kinds(f'def f(x):\n    """{text}    """') == {"x": "unknown"}


def test_the_first_entry_counts(kinds):
    text = (
        DESCRIBED.format("the scores")
        + "\n    Notes:\n        scores (Tensor): x\n\n    Args:\n        x (Tensor): y\n"
    )
    first = text.replace("x: the", "x (int): the", 1)
    assert kinds(f'def f(x):\n    """{first}    """') == {"x": "number"}
