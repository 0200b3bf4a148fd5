"""Which messages are device errors: each wording of the table, and their neighbours that are none."""

# ruff: noqa: E501
from __future__ import annotations

import pytest

from devfix.rules.registry import all_rules
from devfix.verify.probe.messages import FAMILIES, device_family

WORDINGS = [(family.name, wording.text) for family in FAMILIES.values() for wording in family.wordings]

OTHERS = [
    "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
    "expected scalar type Half but found Float",
    "expected m1 and m2 to have the same dtype, but got: float != double",
    "Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) should be the same",
    "Input type (float) and bias type (c10::Half) should be the same",
    "Input type (double) and weight type (float) should be the same",
    "Input type (MPSFloatType) and weight type (MPSHalfType) should be the same",
    "expected type torch.FloatTensor but got torch.DoubleTensor",
    "Expected object of type torch.cuda.FloatTensor but found type torch.cuda.DoubleTensor for argument #4 'mat1'",
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "CUDA error: device-side assert triggered",
    "can't convert np.ndarray of type numpy.object_",
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    "Weights only load failed. In PyTorch 2.6, we changed the default value of the `weights_only` argument",
    "Function MulBackward0 returned an invalid gradient at index 0 - got [3] but expected shape compatible with [2]",
    "assigned grad has data of a different type",
    "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    "index 5 is out of bounds for dimension 0 with size 3",
    "[Errno 19] No such device: 'train.csv'",
    "element 0 of tensors does not require grad and does not have a grad_fn",
    "can't optimize a non-leaf Tensor",
    "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #1 'self'",
    "Expected object of scalar type Float but got scalar type Double for argument #2 'mat1' in call to _th_mm",
    "CUDA error: no kernel image is available for execution on the device",
    "CUDA error: an illegal memory access was encountered",
    "expected np.ndarray (got Tensor)",
    "Could not run 'aten::add.Tensor' with arguments from the 'SparseCPU' backend.",
    "Could not run 'aten::slow_conv3d_forward' with arguments from the 'CPU' backend.",
    "Trying to convert BFloat16 to the CPU backend",
    "torch.addmm received an invalid combination of arguments - got (int, torch.cuda.FloatTensor, int, torch.cuda.HalfTensor), but expected one of:",
    "conv2d() received an invalid combination of arguments - got (Tensor, Parameter, Parameter, tuple, tuple, tuple, int), but expected one of:",
    "lr as a Tensor is not supported for capturable=False and foreach=True",
    "NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, unhandled system error",
    "This instance was constructed with capturable=True or some of all the param_groups came with capturable=True",
    "got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!",
    "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.",
    "a Tensor with 2 elements cannot be converted to Scalar",
    "no space left on device",
    "Training on device cuda:0, but evaluating on cpu",
    "Using device: cuda",
    "The teacher runs on the same device",
    "Backend dynamo failed",
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor",
]  # fmt: skip


@pytest.mark.parametrize(("family", "text"), WORDINGS)
def test_each_wording_of_the_table_is_recognised(family: str, text: str) -> None:
    assert device_family(text) == family


@pytest.mark.parametrize(("family", "text"), WORDINGS)
def test_a_wording_is_recognised_behind_its_type_and_before_more_text(family: str, text: str) -> None:
    assert device_family(f"RuntimeError: {text} (in train.py)") == family


@pytest.mark.parametrize("text", OTHERS)
def test_other_errors_are_not(text: str) -> None:
    assert device_family(text) is None


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_each_pattern_of_a_family_has_a_wording(family) -> None:
    for pattern in family.patterns:
        assert [wording for wording in family.wordings if pattern.search(wording.text)], pattern.pattern
    assert family.causes and not family.meaning.endswith(".")


def test_a_family_that_is_explained_like_another_has_no_rules_of_its_own() -> None:
    named = {name for rule in all_rules() for name in rule.error_families}
    alike = {family.name for family in FAMILIES.values() if family.like}
    assert named <= set(FAMILIES)
    assert not named & alike
    assert {family.like for family in FAMILIES.values()} <= {"", *named}


def test_no_wording_is_twice_in_the_table() -> None:
    assert len({text for _, text in WORDINGS}) == len(WORDINGS)
