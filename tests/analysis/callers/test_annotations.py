"""What annotations say of an argument."""

from __future__ import annotations

import pytest

from devfix.analysis.callers.kinds import Kind


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("Tensor", "tensor"),
        ("torch.Tensor", "tensor"),
        ("torch.LongTensor", "tensor"),
        ("'torch.Tensor'", "tensor"),
        ("Optional[Tensor]", "tensor"),
        ("Tensor | None", "tensor"),
        ("Union[int, Tensor]", "tensor"),
        ("int | float | str | bool | list | dict | None | Tensor", "tensor"),
        ("Float[Tensor, 'b c']", "tensor"),
        ("nn.Parameter", "tensor"),
        ("Image2d", "tensor"),
        ("Bound", "tensor"),
        ("OptTensor", "tensor"),
        ("Float[np.ndarray, 'b c']", "array"),
        ("list[Tensor]", "tensors"),
        ("Tuple[Tensor, ...]", "tensors"),
        ("Sequence[torch.Tensor]", "tensors"),
        ("PairTensor", "tensors"),
        ("dict[str, Tensor]", "tensor_dict"),
        ("Tuple[Tuple[Tensor, Tensor], Tensor]", "tensors"),
        ("tuple[Tensor, list[Tensor]]", "tensors"),
        ("Tuple[Tensor, int]", "unknown"),
        ("list[list[Tensor]]", "tensors"),
        ("SparseTensor", "unknown"),
        ("Any", "unknown"),
        ("nn.Module", "module"),
        ("nn.Linear", "module"),
        ("Block", "module"),
        ("torch.device", "device"),
        ("str | torch.device", "device"),
        ("torch.dtype", "dtype"),
        ("float", "number"),
        ("bool", "bool"),
        ("Literal['mean', 'sum']", "text"),
        ("np.ndarray", "array"),
        ("Image.Image", "array"),
        ("List[int]", "list"),
        ("torch.Size", "list"),
        ("Callable[[Tensor], Tensor]", "callable"),
    ],
)
def test_an_annotation_is_a_kind(kinds, annotation, kind):
    text = f"""
    from PIL import Image
    from .typing import OptTensor, PairTensor

    Image2d = torch.Tensor
    Bound = TypeVar("Bound", bound=Tensor)

    class Block(nn.Module): ...

    def f(x: {annotation}): ...
    """
    assert kinds(text) == {"x": kind}


def test_a_union_has_alternatives(arguments):
    argument = arguments("def f(x: Optional[Union[float, Tensor]] = None): ...")["x"]
    assert argument.kind is Kind.TENSOR and argument.optional
    assert argument.alternatives == {Kind.NUMBER}


def test_type_comments_are_annotations(kinds):
    one_line = """
    def f(self, x, size, y=None):
        # type: (Tensor, int, Optional[Tensor]) -> Tensor
        return x
    """
    assert kinds(one_line) == {"self": "unknown", "x": "tensor", "size": "number", "y": "tensor"}
    each = """
    def f(
        x,  # type: Tensor
        size,  # type: int
    ):
        # type: (...) -> Tensor
        return x
    """
    assert kinds(each) == {"x": "tensor", "size": "number"}


def test_star_arguments_are_packed(kinds):
    assert kinds("def f(*xs: Tensor, **named: Tensor): ...") == {"xs": "tensors", "named": "tensor_dict"}
