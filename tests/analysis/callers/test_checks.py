"""What checks say of an argument."""

from __future__ import annotations

import pytest

from devfix.analysis.callers.kinds import Evidence, Kind


@pytest.mark.parametrize(
    ("body", "alternatives"),
    [
        ("if torch.is_tensor(x): ...", set()),
        ("if not isinstance(x, torch.Tensor):\n        x = torch.tensor(x)", set()),
        ("if not isinstance(x, Tensor):\n        raise TypeError", set()),
        ("assert isinstance(x, Tensor)", set()),
        ("x = x if isinstance(x, Tensor) else torch.tensor(x)", set()),
        ("if isinstance(x, np.ndarray):\n        x = torch.from_numpy(x)\n    x.unsqueeze(0)", {Kind.ARRAY}),
        ("if isinstance(x, (int, Tensor)): ...", {Kind.NUMBER}),
        ("if type(x) == list:\n        x = torch.stack(x)\n    x.unsqueeze(0)", {Kind.LIST}),
        ("if isinstance(x, Tensor) and x.dim() == 2: ...\n    elif isinstance(x, float): ...", {Kind.NUMBER}),
    ],
)
def test_a_check_provides_for_tensors(arguments, body, alternatives):
    argument = arguments(f"def f(x):\n    {body}")["x"]
    assert argument.kind is Kind.TENSOR and argument.alternatives == alternatives


def test_other_checks(arguments):
    argument = arguments("def f(x):\n    if isinstance(x, int):\n        x = (x, x)")["x"]
    assert argument.kind is Kind.NUMBER and argument.evidence is Evidence.CHECK
