"""Which mixes of devices an operator accepts, and its words when it does not.

The calls are those of tests/conformance/cases.py; the words are PyTorch's, which tests/conformance/compare.py holds the
simulator to.  Here they are spelled out for a reader, and for versions of PyTorch of which nothing is recorded.
"""

# ruff: noqa: E501
from __future__ import annotations

import pytest
import torch

from conformance.cases import CASES, gpu, host, number
from conformance.words import RELEASE, elsewhere
from devfix.simulator import Simulator

SAME = "Expected all tensors to be on the same device, but"
TWO = SAME + " found at least two devices, cuda:0 and cpu!"

#: Case -> part of what PyTorch says, or parts between bars.
REFUSED: dict[str, str] = {
    "mse_loss of numbers": TWO,
    "cpu number += cuda number": TWO,
    "cpu vector * cuda number": TWO,
    "cuda + cpu shape [1]": TWO,
    "clamp with a cpu bound": elsewhere("min", "cpu", "cuda:0"),
    "clamp_min": "wrapper_CUDA_clamp_min_Tensor",
    "logaddexp": "wrapper_CUDA_logaddexp",
    "where with a cpu mask": TWO,
    "masked_fill with a cpu mask": "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    "masked_fill with a 0-dim cpu mask": "expected self and mask",
    "masked_fill of the cpu with a cuda value": "Expected inputs to be on same device",
    "masked_select": SAME,
    "embedding, 0-dim cpu index": elsewhere("index", "cpu", "cuda:0", "wrapper_CUDA__index_select"),
    "embedding, cpu table": "wrapper_CUDA__index_select",
    "embedding_bag": "wrapper_CUDA___embedding_bag",
    "index_select": "wrapper_CUDA__index_select",
    "cpu[cuda index]": r"indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    "cpu[cuda mask]": "indices should be either on cpu",
    "cuda[cpu] = cpu vector": SAME,
    "cuda[mask] = cpu vector": SAME,
    "gather": elsewhere("index", "cpu", "cuda:0"),
    "scatter": elsewhere("index", "cpu", "cuda:0"),
    "scatter_add": elsewhere("src", "cpu", "cuda:0"),
    "index_add": elsewhere("index", "cpu", "cuda:0"),
    "index_copy": "same device",
    "index_fill": TWO,
    "take": SAME,
    "cat": elsewhere("tensors", "cpu", "cuda:0", "wrapper_CUDA_cat"),
    "stack of numbers": "wrapper_CUDA_cat",
    "hstack": "wrapper_CUDA_cat",
    "mm": elsewhere("mat2", "cpu", "cuda:0", "wrapper_CUDA_mm"),
    "bmm": elsewhere("mat2", "cuda:0", "cpu", "wrapper_CUDA_bmm"),
    "dot": SAME,
    "einsum": SAME,
    "linear, cpu input": elsewhere("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"),
    "linear, cpu bias": elsewhere("mat1", "cuda:0", "cpu", "wrapper_CUDA_addmm"),
    "cross_entropy, target": elsewhere("target", "cpu", "cuda:0", "wrapper_CUDA_nll_loss_forward"),
    "cross_entropy, 0-dim target": elsewhere("target", "cpu", "cuda:0"),
    "cross_entropy, weight": elsewhere("weight", "cpu", "cuda:0"),
    "cross_entropy, soft target": SAME,
    "cross_entropy of images": "wrapper_CUDA__nll_loss2d_forward",
    "bce": SAME,
    "bce with logits": SAME,
    "bce with logits, pos_weight": SAME,
    "huber_loss": elsewhere("target", "cpu", "cuda:0"),
    "mse_loss": TWO,
    "mse_loss, cpu number as target": TWO,
    "l1_loss": TWO,
    "kl_div": SAME,
    "triplet": SAME,
    "cosine_embedding": SAME,
    "cosine_similarity": SAME,
    "conv, cpu input": "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    "conv, cpu weight": "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    "conv, cpu bias": "and bias type (torch.FloatTensor) should be the same",
    "conv_transpose": "Input type (torch.FloatTensor)",
    "batch_norm, cpu statistics": elsewhere("running_mean", "cpu", "cuda:0"),
    "layer_norm": elsewhere("weight", "cpu", "cuda:0"),
    "group_norm": SAME,
    "prelu": SAME,
    "lstm, cpu input": "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter tensor at cuda:0",
    "gru, cpu hidden": "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu",
    "lstm, cpu cell state": "Input and hidden tensors",
    "lstm cell": SAME,
    "attention module": SAME,
    "sdpa, value": "Expected query, key, and value to have the same device type, but got query.device: cuda:0",
    "sdpa, mask": SAME,
    "transformer layer, positions": TWO,
    "grid_sample": "same device|to be on the same",
    "addcdiv": SAME,
    "addcmul, tensor1": SAME,
    "equal": "wrapper_CUDA__equal",
    "allclose": SAME,
    "isin": SAME,
    "bucketize": "same device",
    "bincount, weights": SAME,
    "cdist": "same device",
    "cross": SAME,
    "solve": "same device",
    "max of two": TWO,
    "out=": TWO,
    "mm out=": SAME,
    "two cpu numbers, cuda out": "Trying to pass too many CPU scalars to non-CPU kernel!",
    "addmm_": "wrapper_CUDA_addmm_",
    "distributions": TWO,
    "numpy": "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
    "numpy.array": "can't convert cuda:0",
    "numpy.mean of a list": "can't convert cuda:0",
    "gradient of another device": "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'. Please ensure that the gradient and the tensor are on the same device",
    "lengths on the accelerator": "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    "pin_memory": "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    "tensor_split": "to be on cpu, but it's on cuda:0",
    "generator of the cpu": "Expected a 'cuda' device type for generator but found 'cpu'",
    "generator of the accelerator": "Expected a 'cpu' device type for generator but found 'cuda'",
    "in-place draw, generator of the cpu": "Expected a 'cuda' device type for generator but found 'cpu'",
    "meshgrid": "meshgrid expects all tensors to have the same device",
    "block_diag": "Input 0 is on device cuda:0 and input 1 is on device cpu",
    "searchsorted, sorter": "should have same device type",
    "bilinear": SAME,
    "parameters_to_vector": "same|Found two parameters on different devices",
}

#: Case -> the release since which it is accepted; until then it is refused as TWO.
SINCE: dict[str, tuple[int, int]] = {"lerp": (2, 6), "addcmul, tensor2": (2, 7)}
REFUSED |= {case: TWO for case, release in SINCE.items() if release > RELEASE}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_a_mix_is_refused_in_pytorchs_words(case: str, sim: Simulator) -> None:
    words = REFUSED[case]
    with pytest.raises((RuntimeError, TypeError)) as caught:
        CASES[case]()
    assert any(part in str(caught.value) for part in words.split("|"))


#: Case -> where its result is.
ACCEPTED: dict[str, str] = {
    "ctc_loss": "cuda:0",
    "cuda + cpu number": "cuda:0",
    "cpu number + cuda": "cuda:0",
    "cuda *= cpu number": "cuda:0",
    "cuda ** cpu number": "cuda:0",
    "maximum": "cuda:0",
    "comparison": "cuda:0",
    "where with cpu numbers": "cuda:0",
    "masked_fill with a cpu number": "cuda:0",
    "cuda[cpu index]": "cuda:0",
    "cuda[cpu mask]": "cuda:0",
    "cuda[list]": "cuda:0",
    "cuda[numpy]": "cuda:0",
    "cpu[cuda number]": "cpu",
    "cuda[cpu] = cuda": "cuda:0",
    "cuda[cpu] = cpu number": "cuda:0",
    "cuda[0] = cpu vector": "cuda:0",
    "cuda[:] = cpu": "cuda:0",
    "cpu[0] = cuda vector": "cpu",
    "copy_": "cpu",
    "bce, weight as cpu number": "cuda:0",
    "expand_as": "cpu",
    "view_as": "cpu",
    "type_as": "cuda:0",
    "one_hot": "cuda:0",
    "lstm": "cuda:0",
    "lstm state": "cuda:0",
    "packed lstm": "cuda:0",
    "batch sizes of a pack": "cpu",
    "padded again": "cuda:0",
    "lengths of a padded pack": "cpu",
    "pad_sequence": "cuda:0",
    "attention": "cuda:0",
    "attention, evaluated": "cuda:0",
    "transformer": "cuda:0",
    "causal mask": "cuda:0",
    "sdpa": "cuda:0",
    "interpolate": "cuda:0",
    "max_pool indices": "cuda:0",
    "batch_norm module": "cuda:0",
    "dropout": "cuda:0",
    "unique": "cuda:0",
    "topk": "cuda:0",
    "sort": "cuda:0",
    "nonzero": "cuda:0",
    "nothing selected": "cuda:0",
    "multinomial": "cuda:0",
    "fft": "cuda:0",
    "stft": "cuda:0",
    "svd": "cuda:0",
    "meshgrid, accepted": "cuda:0",
    "tril": "cuda:0",
    "sum over dtype": "cuda:0",
    "split": "cuda:0",
    "chunk": "cuda:0",
    "sparse": "cuda:0",
    "sparse matrix product": "cuda:0",
    "clip_grad_norm_": "cuda:0",
    "vector_to_parameters": "cuda:0",
    "weight_norm": "cuda:0",
    "spectral_norm": "cuda:0",
    "old weight_norm": "cuda:0",
    "func.vmap": "cuda:0",
    "func.grad": "cuda:0",
    "checkpoint": "cuda:0",
    "einsum, accepted": "cuda:0",
    "cumsum": "cuda:0",
    "distribution sample": "cuda:0",
    "embedding bag": "cuda:0",
    "bilinear, accepted": "cuda:0",
    "half": "cuda:0",
    "complex": "cuda:0",
    "tensor.item on both": "cpu",
}
ACCEPTED |= {case: "cuda:0" for case in SINCE if case not in REFUSED}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ACCEPTED)
def test_a_legal_call_gives_a_tensor_where_it_belongs(case: str, sim: Simulator) -> None:
    assert str(CASES[case]().device) == ACCEPTED[case]


def test_a_gradient_must_be_where_its_output_is_unless_it_is_one_number(sim: Simulator):
    x = gpu(3).requires_grad_(True)

    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cuda:0 but got cpu"):
        (x * 2).backward(host(3))
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        torch.autograd.grad(x * 2, x, grad_outputs=host(3))
    (x * 2).backward(gpu(3))
    x.sum().backward(number())
