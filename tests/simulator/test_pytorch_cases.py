"""Samples of PyTorch's own tests run on the simulated device as on the CPU: every operator, module and optimizer.

``nox -s programs`` runs them; ``torch.testing._internal`` of the installed wheel contains them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

from devfix.simulator import Simulator, unsupported_used

pytestmark = pytest.mark.filterwarnings("ignore")

if not os.environ.get("DEVFIX_ALL_PROGRAMS"):
    pytest.skip("nox -s programs runs them", allow_module_level=True)

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402  # takes seconds
from torch.testing._internal.common_modules import module_db  # noqa: E402  # takes seconds
from torch.testing._internal.common_optimizers import optim_db  # noqa: E402  # takes seconds

#: Samples of each dtype; of the first dtype, and of others.
MOST, MOST_OF_OTHERS = 100, 3

#: Operators that return memory without values.
UNINITIALIZED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}

#: Compiled at run time: unsupported.
COMPILED = "jiterator"

#: On CUDA the implementation converts the dtype, which the kernel of the CPU refuses.
PRIVATE = {"_softmax_backward_data"}

#: A chunked implementation for CUDA.
CHUNKED = "linear_cross_entropy_chunked"


def _leaves(value: Any) -> list[Any]:
    return [each for each in tree_flatten(value)[0] if isinstance(each, (Tensor, int, float, bool))]


def _values(value: Any) -> list[Any]:
    return [each.detach().cpu().clone() if isinstance(each, Tensor) else each for each in _leaves(value)]


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return bool(one == other or (one != one and other != other))
    if (one.dtype, one.shape, one.layout) != (other.dtype, other.shape, other.layout):
        return False
    if one.layout is not torch.strided:
        one, other = one.to_dense(), other.to_dense()
    if one.is_complex():  # under a mode, PyTorch takes other paths, with other rounding errors
        one, other = (torch.view_as_real(each.to(torch.complex128)) for each in (one, other))
        return torch.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)
    if not one.is_floating_point():
        return torch.equal(one, other)
    one, other = one.double(), other.double()
    return torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))


def _gradients(result: Any, inputs: Any) -> list[Any]:
    outputs = [each for each in _leaves(result) if isinstance(each, Tensor) and each.requires_grad]
    sources = [each for each in _leaves(inputs) if isinstance(each, Tensor) and each.requires_grad and each.is_leaf]
    if not outputs or not sources:
        return []
    sums = [each.abs().sum() if each.is_complex() else each.sum() for each in outputs]
    return [each for each in torch.autograd.grad(sums, sources, allow_unused=True) if each is not None]


def _results(samples: Iterator[Any], call: Callable[[Any], Any], most: int) -> list[tuple[Any, Any]]:
    """Return for each sample its inputs, and its results and gradients, or the text of its error."""
    found: list[tuple[Any, Any]] = []
    for sample in itertools.islice(samples, most):
        inputs = (sample.input, sample.args, sample.kwargs)
        given = _values(inputs)
        torch.manual_seed(1)
        try:
            result = call(sample)
            found.append((given, _values((result, _gradients(result, inputs)))))
        except Exception as error:
            found.append((given, f"{type(error).__name__}: {error}"))
    return found


def _describe(expected: list[tuple[Any, Any]], found: list[tuple[Any, Any]]) -> list[str]:
    """Return the samples that differ; those whose inputs differ are chosen by the kind of device, and left out."""
    problems = []
    for number, ((given, wanted), (ours, result)) in enumerate(zip(expected, found, strict=False)):
        if len(given) != len(ours) or not all(map(_equal, given, ours)):
            continue
        if isinstance(result, str) or isinstance(wanted, str):
            if not (isinstance(result, str) and isinstance(wanted, str)):
                problems.append(f"sample {number}: {result} instead of {wanted}"[:400])
        elif len(result) != len(wanted) or not all(map(_equal, wanted, result)):
            problems.append(f"sample {number}: other values")
    return problems


#: PyTorch 2.13 computes these of complex matrices wrongly under any dispatch mode, also one that does nothing.
WRONG_IF_COMPLEX = ("linalg_", "norm_nuc", "pinverse")


def _dtypes(op: Any) -> list[torch.dtype]:
    if op.formatted_name.startswith(WRONG_IF_COMPLEX):
        return sorted((each for each in op.dtypesIfCUDA & op.dtypes if not each.is_complex), key=str)
    preferred = (torch.float32, torch.int64, torch.complex64, torch.bool)
    return sorted(op.dtypesIfCUDA & op.dtypes, key=lambda dtype: (dtype not in preferred, str(dtype)))


OPERATORS = {each.formatted_name: each for each in op_db if each.name not in UNINITIALIZED | PRIVATE}


@pytest.mark.parametrize("name", [name for name in OPERATORS if COMPILED not in name and CHUNKED not in name])
def test_an_operator_has_the_values_and_gradients_of_the_cpu(name: str) -> None:
    op = OPERATORS[name]
    problems = []
    for number, dtype in enumerate(_dtypes(op)):
        most = MOST_OF_OTHERS if number else MOST
        gradient = dtype.is_floating_point and op.supports_autograd

        def results(device: str, dtype: torch.dtype = dtype, gradient: bool = gradient, most: int = most) -> Any:
            torch.manual_seed(0)
            samples = op.sample_inputs(device, dtype, requires_grad=gradient)
            return _results(samples, lambda sample: op(sample.input, *sample.args, **sample.kwargs), most)

        expected = results("cpu")
        with Simulator(shared_random=True):
            found = results("cuda")
        if not unsupported_used():
            problems += [f"{dtype}: {each}" for each in _describe(expected, found)]

    assert problems == []


#: LinearCrossEntropyLoss splits its computation differently on CUDA.
MODULES = {
    each.formatted_name: each
    for each in module_db
    if not each.is_lazy and each.module_cls.__name__ != "LinearCrossEntropyLoss"
}


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_the_values_and_gradients_of_the_cpu(name: str, training: bool) -> None:
    info = MODULES[name]

    def results(device: str) -> list[tuple[Any, Any]]:
        torch.manual_seed(0)
        given = info.module_inputs_func(info, device=device, dtype=torch.float32, requires_grad=True, training=training)
        found: list[tuple[Any, Any]] = []
        for each in given:
            if each.forward_input is None:
                continue
            constructor, forward = each.constructor_input, each.forward_input
            torch.manual_seed(1)
            module = info.module_cls(*constructor.args, **constructor.kwargs).to(device, torch.float32)
            module.train(training)
            inputs = (list(module.parameters()), forward.args, forward.kwargs)
            values = _values(inputs)
            result = module(*forward.args, **forward.kwargs)
            found.append((values, _values((result, _gradients(result, inputs), module.state_dict()))))
        return found

    expected = results("cpu")
    with Simulator(shared_random=True):
        found = results("cuda")

    assert unsupported_used() == []
    assert len(found) == len(expected)
    assert _describe(expected, found) == []


OPTIMIZERS = {each.name: each for each in optim_db if not each.only_supports_sparse_grads}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_trains_as_on_the_cpu(name: str) -> None:
    info = OPTIMIZERS[name]
    inputs = [each.kwargs for each in info.optim_inputs_func(device="cpu")]
    given: list[dict[str, Any]] = [{**each, "foreach": False} for each in inputs if "foreach" in info.supported_impls]
    given += [
        {**each, implementation: True}
        for each in inputs
        for implementation in info.supported_impls
        if not (name == "Adagrad" and implementation == "fused" and isinstance(each.get("lr"), Tensor))  # CPU only
    ]

    def weights(device: str, settings: dict[str, Any]) -> list[Any] | str:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
        source = torch.randn(6, 4, device=device)

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss: Tensor = model(source).square().mean()
            loss.backward()
            return loss

        try:
            optimizer = info.optim_cls(model.parameters(), **settings)
            for _ in range(3):
                closure()
                optimizer.step(closure) if info.step_requires_closure else optimizer.step()
        except (RuntimeError, ValueError) as error:  # settings that exclude each other
            return f"{type(error).__name__}: {error}"
        return _values((model.state_dict(), optimizer.state_dict()))

    expected = [weights("cpu", each) for each in given]
    with Simulator(shared_random=True):
        found = [weights("cuda", each) for each in given]

    assert unsupported_used() == []
    assert _describe([([], each) for each in expected], [([], each) for each in found]) == []
