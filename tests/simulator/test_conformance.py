"""PyTorch's operator database on the simulated device.

Unmixed calls must work, forward and backward, with the CPU's numbers; mixed calls must do what a CUDA build of PyTorch
is recorded to do (tests/data).  The test suite takes every so-many-th operator; ``nox -s conformance`` takes them all.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map

from conformance.agreement import compare, load, nearest
from conformance.compare import simulate
from conformance.probes import HAND, allow_global_flags
from devfix.simulator import Simulator

pytest.importorskip("expecttest")
pytestmark = pytest.mark.filterwarnings("ignore")

SAMPLES = 6
STEP = 1 if os.environ.get("DEVFIX_ALL_OPERATORS") else 24

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


def _database() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    allow_global_flags()
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
    database = _database()[::STEP]
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
    assert checked > 2000 // STEP
    assert {name: problem for name, problem in wrong.items() if name not in EXPECTED} == {}


def _recording() -> dict[str, dict[str, str]]:
    path = nearest(torch.__version__)
    assert path is not None
    if path.stem != torch.__version__.split("+")[0]:
        pytest.skip(f"nothing is recorded for torch {torch.__version__}")
    return load(path).outcomes


def test_the_cases_written_by_hand_do_what_a_cuda_build_does() -> None:
    found = compare(_recording(), simulate([HAND]))
    assert found.disagreed == []
    assert len(found.agreed) > 200
    assert found.missing == 0


def test_a_tensor_elsewhere_does_what_it_does_in_a_cuda_build() -> None:
    recorded = _recording()
    found = compare(recorded, simulate(sorted(set(recorded) - {HAND})[::STEP]))
    assert found.disagreed == []
    assert len(found.agreed) > 9000 // STEP // 2


def test_a_wrong_outcome_is_a_disagreement() -> None:
    refused = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices"
    recorded = {"add": {"0 all": "ok cuda:0", "0 host0": refused, "0 host1": "ok cuda:0", "0 only1": "ValueError: no"}}
    simulated = {"add": {"0 all": "ok cpu", "0 host0": "ok cuda:0", "0 host1": refused, "0 only1": "ok", "1 all": "ok"}}
    found = compare(recorded, simulated)
    assert [pair.probe for pair in found.disagreed] == ["0 all", "0 host0", "0 host1"]
    assert [pair.probe for pair in found.undecided] == ["0 only1"]
    assert (found.agreed, found.missing, found.percentage) == ([], 1, 0)


def test_an_operator_that_fails_everywhere_decides_nothing_but_a_refusal() -> None:
    refused = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices"
    recorded = {"svd": {"0 all": "RuntimeError: no library", "0 host0": "ok cuda:0", "0 host1": refused}}
    found = compare(recorded, {"svd": {"0 host0": refused, "0 host1": refused}})
    assert [pair.probe for pair in found.undecided] == ["0 host0"]
    assert [pair.probe for pair in found.agreed] == ["0 host1"]


def test_the_nearest_recording_is_a_gpus_then_the_version_beside(tmp_path) -> None:
    for name in ("standin/2.13.0", "standin/2.6.0"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.json").write_text("{}", encoding="utf-8")
    assert nearest("2.7.1+cpu", tmp_path) == tmp_path / "standin/2.6.0.json"
    (tmp_path / "cuda").mkdir()
    assert nearest("2.12.1", tmp_path) == tmp_path / "standin/2.13.0.json"
    (tmp_path / "cuda/2.11.0.json").write_text("{}", encoding="utf-8")
    assert nearest("2.13.0", tmp_path) == tmp_path / "cuda/2.11.0.json"
