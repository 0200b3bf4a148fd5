"""The kind of an argument from its evidence."""

from __future__ import annotations

from devfix.analysis.callers.kinds import Evidence, Kind


def test_a_docstring_is_stronger_than_a_default(arguments):
    text = '''
    def f(x=0):
        """Do it.

        Args:
            x (Tensor): some words
        """
    '''
    argument = arguments(text)["x"]
    assert argument.kind is Kind.TENSOR and argument.evidence is Evidence.DOCSTRING


def test_a_default_is_stronger_than_a_use(arguments):
    argument = arguments("def f(x=0):\n    return torch.as_tensor(x).shape")["x"]
    assert argument.kind is Kind.NUMBER and argument.evidence is Evidence.DEFAULT


def test_a_check_is_stronger_than_a_default(arguments):
    argument = arguments("def f(x=0):\n    if not torch.is_tensor(x):\n        x = torch.tensor(x)")["x"]
    assert argument.kind is Kind.TENSOR and argument.evidence is Evidence.CHECK
    assert argument.alternatives == {Kind.NUMBER}


def test_names_say_what_is_no_tensor(kinds):
    assert kinds("def f(image_np, pil_image, image):\n    return image_np.shape, pil_image.shape, image.shape") == {
        "image_np": "unknown",
        "pil_image": "unknown",
        "image": "tensor",
    }


def test_names_say_what_is_a_tensor(kinds):
    assert kinds("def f(input_tensor, return_tensor): ...") == {"input_tensor": "tensor", "return_tensor": "unknown"}


def test_what_no_array_allows_is_a_tensor_beside_numpy(kinds):
    text = """
    def f(one, two):
        x, y = one[:, 0], two[:, 0]
        return np.maximum(torch.max(x, x) - 1, 0) + y.mean()
    """
    assert kinds(text) == {"one": "tensor", "two": "unknown"}
