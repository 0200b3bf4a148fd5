"""PyTorch's operator database on the simulated device.

Unmixed calls must work, forward and backward, with the CPU's numbers; of calls with one tensor elsewhere, each is
accepted or refused in one of PyTorch's known ways.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from devfix.simulator import Simulator

pytest.importorskip("expecttest")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SAMPLES = 6

#: Operator -> why its unmixed samples do not agree.
EXPECTED = {
    "to": "its samples name the CPU",
    "tensor_split": "its indices must be on the CPU, on a real device as well",
    "as_strided": "reads memory between the elements, which a copy does not keep",
    "linalg.lstsq": "LAPACK rounds by the alignment of memory",
    "empty": "no numbers to compare",
    "empty_like": "no numbers to compare",
    "empty_permuted": "no numbers to compare",
    "empty_strided": "no numbers to compare",
    "new_empty": "no numbers to compare",
    "new_empty_strided": "no numbers to compare",
    "resize_": "new memory holds anything",
    "resize_as_": "new memory holds anything",
}

KNOWN_WORDS = (
    "same device",
    "to numpy",
    "either on cpu",
    "should be the same",
    "same device type",
    "to be on cpu",
    "CPU scalars",
)


def _database() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return [op for op in op_db if not op.name.startswith("jiterator")]  # compiles CUDA kernels


def _samples(op: Any) -> list[Any]:
    dtypes = op.supported_dtypes("cpu")
    if not dtypes:
        return []
    dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
    gradients = op.supports_autograd and dtype.is_floating_point
    try:
        return list(op.sample_inputs("cpu", dtype, requires_grad=gradients))[:SAMPLES]
    except Exception:  # samples that this build cannot make
        return []


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor) and value.layout == torch.strided:
        return value.detach().clone().requires_grad_(value.requires_grad)
    return value


def _moved(value: Any) -> Any:
    return value.cuda() if isinstance(value, Tensor) else value


def _arguments(sample: Any) -> Any:
    keywords = {name: ("cuda" if name == "device" else value) for name, value in sample.kwargs.items()}
    return tree_map(_copied, (sample.input, tuple(sample.args), keywords))


def _tensors(result: Any) -> list[Tensor]:
    return [value for value in tree_flatten(result)[0] if isinstance(value, Tensor)]


def _equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers; NaN equals NaN.  What cannot be compared counts as equal."""
    if one.layout != torch.strided:
        return True
    try:
        return torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))
    except NotImplementedError:  # half complex numbers and float8
        return True


def _unmixed(op: Any, sample: Any) -> str | None:
    """What is wrong with one sample whose tensors are all on the device; None if nothing is."""
    torch.manual_seed(0)
    try:
        expected = _tensors(op(sample.input, *sample.args, **sample.kwargs))
    except Exception:  # fails on the CPU as well
        return None
    torch.manual_seed(0)
    source, args, keywords = tree_map(_moved, _arguments(sample))
    found = _tensors(op(source, *args, **keywords))
    for one, other in zip(expected, found, strict=True):
        if not other.is_cuda:
            return f"a result is on {other.device}"
        if not _equal(one.detach(), other.detach().cpu()):
            return "the numbers differ"
    roots = [value.sum() for value in found if value.requires_grad and value.is_floating_point()]
    if roots:
        sum(roots[1:], roots[0]).backward()
    return None


def test_unmixed_calls_give_the_numbers_of_the_cpu() -> None:
    wrong: dict[str, str] = {}
    checked = 0
    database = _database()
    with Simulator(shared_random=True):
        for op in database:
            for sample in _samples(op):
                checked += 1
                try:
                    problem = _unmixed(op, sample)
                except Exception as error:
                    problem = f"{type(error).__name__}: {error}"
                if problem:
                    wrong[op.name] = problem
    assert checked > 2000
    assert {name: problem for name, problem in wrong.items() if name not in EXPECTED} == {}


def test_a_tensor_elsewhere_is_accepted_or_refused_in_known_words() -> None:
    strange: dict[str, str] = {}
    refused = 0
    database = _database()
    with Simulator(shared_random=True):
        for op in database:
            for sample in _samples(op):
                leaves, shape = tree_flatten(_arguments(sample))
                places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
                for left in places if len(places) > 1 else ():
                    mixed = [leaf if index == left else _moved(leaf) for index, leaf in enumerate(leaves)]
                    source, args, keywords = tree_unflatten(mixed, shape)
                    try:
                        op(source, *args, **keywords)
                    except (RuntimeError, TypeError) as error:
                        refused += 1
                        if not any(words in str(error) for words in KNOWN_WORDS):
                            strange[op.name] = str(error)
    assert refused > 1500
    assert strange == {}
