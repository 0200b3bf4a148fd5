"""Which mixes of devices an operator accepts, and its words when it does not.

Facts from PyTorch's sources (see devfix/simulator/rules.py); what a real GPU says wins over this table.
"""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # everybody calls it so

from devfix.simulator import Simulator

SAME = "Expected all tensors to be on the same device, but"
TWO = SAME + " found at least two devices, cuda:0 and cpu!"


def gpu(*shape: int) -> torch.Tensor:
    return torch.randn(*shape).cuda()


def host(*shape: int) -> torch.Tensor:
    return torch.randn(*shape)


def number(value: Any = 1.0) -> torch.Tensor:
    return torch.tensor(value)


def written(index: Any, value: torch.Tensor, target: Any = None) -> torch.Tensor:
    target = gpu(4, 4) if target is None else target
    target[index] = value
    return target


def labels(*shape: int) -> torch.Tensor:
    return torch.zeros(*shape, dtype=torch.long)


def mask(*shape: int) -> torch.Tensor:
    return torch.ones(*shape, dtype=torch.bool)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "cpu number += cuda number": (lambda: number().add_(gpu(1)[0]), TWO),
    "cpu vector * cuda number": (lambda: host(4) * gpu(1)[0], TWO),
    "cuda + cpu shape [1]": (lambda: gpu(4) + host(1), TWO),
    "clamp with a cpu bound": (
        lambda: gpu(4).clamp(min=number()),
        SAME + " got min is on cpu, different from other tensors on cuda:0",
    ),
    "clamp_min": (lambda: gpu(4).clamp_min(number()), "wrapper_CUDA_clamp_min_Tensor"),
    "logaddexp": (lambda: torch.logaddexp(gpu(4), number()), "wrapper_CUDA_logaddexp"),
    "where with a cpu mask": (lambda: torch.where(mask(4, 4), gpu(4, 4), gpu(4, 4)), TWO),
    "masked_fill with a cpu mask": (
        lambda: gpu(4, 4).masked_fill(mask(4, 4), 0.0),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    ),
    "masked_fill with a 0-dim cpu mask": (lambda: gpu(4).masked_fill(number(True), 0.0), "expected self and mask"),
    "masked_fill of the cpu with a cuda value": (
        lambda: host(4).masked_fill(mask(4), gpu(1)[0]),
        "Expected inputs to be on same device",
    ),
    "masked_select": (lambda: gpu(4).masked_select(mask(4)), SAME),
    "embedding, 0-dim cpu index": (
        lambda: F.embedding(number(3), gpu(4, 4)),
        "got index is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA__index_select)",
    ),
    "embedding, cpu table": (lambda: F.embedding(labels(3).cuda(), host(4, 4)), "wrapper_CUDA__index_select"),
    "embedding_bag": (lambda: F.embedding_bag(labels(2, 2), gpu(4, 4)), "wrapper_CUDA___embedding_bag"),
    "index_select": (lambda: gpu(4, 4).index_select(0, number(3)), "wrapper_CUDA__index_select"),
    "cpu[cuda index]": (
        lambda: host(4)[labels(2).cuda()],
        r"indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    "cpu[cuda mask]": (lambda: host(4)[mask(4).cuda()], "indices should be either on cpu"),
    "cuda[cpu] = cpu vector": (lambda: written(number([0, 1]), host(4)), SAME),
    "cuda[mask] = cpu vector": (lambda: written(mask(4, 4).cuda(), host(16)), SAME),
    "gather": (lambda: gpu(4, 4).gather(0, labels(4, 4)), "got index is on cpu"),
    "scatter": (lambda: gpu(4, 4).scatter(0, labels(4, 4), 1.0), "got index is on cpu"),
    "scatter_add": (lambda: gpu(4).scatter_add(0, labels(4).cuda(), host(4)), "got src is on cpu"),
    "index_add": (lambda: gpu(4, 4).index_add(0, number([0, 1]), gpu(2, 4)), "got index is on cpu"),
    "index_copy": (lambda: gpu(4, 4).index_copy(0, number([0, 1]), gpu(2, 4)), "same device"),
    "index_fill": (lambda: gpu(4, 4).index_fill(0, number([0, 1]), 0.0), TWO),
    "take": (lambda: gpu(4).take(labels(2)), SAME),
    "cat": (
        lambda: torch.cat([gpu(4, 4), host(4, 4)]),
        "got tensors is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_cat)",
    ),
    "stack of numbers": (lambda: torch.stack([gpu(1)[0], number()]), "wrapper_CUDA_cat"),
    "hstack": (lambda: torch.hstack([gpu(4), host(4)]), "wrapper_CUDA_cat"),
    "mm": (
        lambda: gpu(4, 4) @ host(4, 4),
        "got mat2 is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_mm)",
    ),
    "bmm": (
        lambda: torch.bmm(host(1, 4, 4), gpu(1, 4, 4)),
        "got mat2 is on cuda:0, different from other tensors on cpu (when checking argument in method wrapper_CUDA_bmm)",
    ),
    "dot": (lambda: gpu(4).dot(host(4)), SAME),
    "einsum": (lambda: torch.einsum("ij,jk->ik", gpu(4, 4), host(4, 4)), SAME),
    "linear, cpu input": (
        lambda: nn.Linear(4, 4).cuda()(host(2, 4)),
        "got mat1 is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)",
    ),
    "linear, cpu bias": (
        lambda: F.linear(gpu(2, 4), gpu(4, 4), host(4)),
        "got mat1 is on cuda:0, different from other tensors on cpu (when checking argument in method wrapper_CUDA_addmm)",
    ),
    "cross_entropy, target": (
        lambda: F.cross_entropy(gpu(4, 4), labels(4)),
        "got target is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_nll_loss_forward)",
    ),
    "cross_entropy, 0-dim target": (lambda: F.cross_entropy(gpu(4), number(1)), "got target is on cpu"),
    "cross_entropy, weight": (
        lambda: F.cross_entropy(gpu(4, 4), labels(4).cuda(), weight=torch.ones(4)),
        "got weight is on cpu",
    ),
    "cross_entropy, soft target": (lambda: F.cross_entropy(gpu(4, 4), host(4, 4)), SAME),
    "cross_entropy of images": (
        lambda: F.cross_entropy(gpu(1, 4, 2, 2), labels(1, 2, 2)),
        "wrapper_CUDA__nll_loss2d_forward",
    ),
    "bce": (lambda: F.binary_cross_entropy(torch.sigmoid(gpu(4)), torch.ones(4)), SAME),
    "bce with logits": (lambda: F.binary_cross_entropy_with_logits(gpu(4), torch.ones(4)), SAME),
    "bce with logits, pos_weight": (
        lambda: F.binary_cross_entropy_with_logits(gpu(2, 4), torch.ones(2, 4).cuda(), pos_weight=torch.ones(4)),
        SAME,
    ),
    "huber_loss": (lambda: F.huber_loss(gpu(1)[0], number()), "got target is on cpu"),
    "mse_loss": (lambda: F.mse_loss(gpu(4, 4), host(4, 4)), TWO),
    "mse_loss, cpu number as target": (lambda: F.mse_loss(gpu(4), number()), TWO),
    "l1_loss": (lambda: F.l1_loss(gpu(4), host(4)), TWO),
    "kl_div": (lambda: F.kl_div(gpu(4), host(4)), SAME),
    "triplet": (lambda: F.triplet_margin_loss(gpu(2, 4), gpu(2, 4), host(2, 4)), SAME),
    "cosine_embedding": (lambda: F.cosine_embedding_loss(gpu(2, 4), gpu(2, 4), torch.ones(2)), SAME),
    "cosine_similarity": (lambda: F.cosine_similarity(gpu(2, 4), host(2, 4)), SAME),
    "conv, cpu input": (
        lambda: F.conv2d(host(1, 1, 4, 4), gpu(1, 1, 3, 3)),
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "conv, cpu weight": (
        lambda: F.conv2d(gpu(1, 1, 4, 4), host(1, 1, 3, 3)),
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    ),
    "conv, cpu bias": (
        lambda: F.conv2d(gpu(1, 1, 4, 4), gpu(1, 1, 3, 3), host(1)),
        "and bias type (torch.FloatTensor) should be the same",
    ),
    "conv_transpose": (lambda: F.conv_transpose1d(host(1, 1, 4), gpu(1, 1, 3)), "Input type (torch.FloatTensor)"),
    "batch_norm, cpu statistics": (
        lambda: F.batch_norm(gpu(2, 4), torch.zeros(4), torch.ones(4), training=True),
        "got running_mean is on cpu",
    ),
    "layer_norm": (lambda: nn.LayerNorm(4)(gpu(2, 4)), "got weight is on cpu"),
    "group_norm": (lambda: nn.GroupNorm(2, 4)(gpu(2, 4)), SAME),
    "prelu": (lambda: nn.PReLU()(gpu(4)), SAME),
    "lstm, cpu input": (
        lambda: nn.LSTM(3, 4).cuda()(host(2, 1, 3)),
        "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter tensor at cuda:0",
    ),
    "gru, cpu hidden": (
        lambda: nn.GRU(3, 4).cuda()(gpu(2, 1, 3), host(1, 1, 4)),
        "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu",
    ),
    "lstm, cpu cell state": (
        lambda: nn.LSTM(3, 4).cuda()(gpu(2, 1, 3), (gpu(1, 1, 4), host(1, 1, 4))),
        "Input and hidden tensors",
    ),
    "lstm cell": (lambda: nn.LSTMCell(3, 4).cuda()(host(1, 3)), SAME),
    "attention module": (lambda: nn.MultiheadAttention(4, 2).cuda()(host(2, 1, 4), host(2, 1, 4), host(2, 1, 4)), SAME),
    "sdpa, value": (
        lambda: F.scaled_dot_product_attention(gpu(1, 1, 2, 4), gpu(1, 1, 2, 4), host(1, 1, 2, 4)),
        "Expected query, key, and value to have the same device type, but got query.device: cuda:0",
    ),
    "sdpa, mask": (
        lambda: F.scaled_dot_product_attention(gpu(1, 1, 2, 4), gpu(1, 1, 2, 4), gpu(1, 1, 2, 4), attn_mask=mask(2, 2)),
        SAME,
    ),
    "transformer layer, positions": (
        lambda: nn.TransformerEncoderLayer(4, 2, 8).cuda()(gpu(2, 1, 4) + host(2, 1, 4)),
        TWO,
    ),
    "grid_sample": (lambda: F.grid_sample(gpu(1, 1, 2, 2), host(1, 2, 2, 2)), "same device|to be on the same"),
    "addcdiv": (lambda: torch.addcdiv(gpu(4), gpu(4), number()), SAME),
    "addcmul, tensor1": (lambda: torch.addcmul(gpu(4), number(), gpu(4)), SAME),
    "lerp": (lambda: torch.lerp(gpu(4), gpu(4), number()), SAME),
    "equal": (lambda: torch.equal(gpu(4), host(4)), "wrapper_CUDA__equal"),
    "allclose": (lambda: torch.allclose(gpu(4), host(4)), SAME),
    "isin": (lambda: torch.isin(gpu(4), host(4)), SAME),
    "bucketize": (lambda: torch.bucketize(gpu(4), host(4)), "same device"),
    "bincount, weights": (lambda: torch.bincount(labels(4).cuda(), host(4)), SAME),
    "cdist": (lambda: torch.cdist(gpu(2, 4), host(2, 4)), "same device"),
    "cross": (lambda: torch.linalg.cross(gpu(3), host(3)), SAME),
    "solve": (lambda: torch.linalg.solve(gpu(3, 3), host(3)), "same device"),
    "max of two": (lambda: torch.max(gpu(4), host(4)), TWO),
    "out=": (lambda: torch.add(gpu(4), gpu(4), out=host(4)), TWO),
    "mm out=": (lambda: torch.mm(gpu(4, 4), gpu(4, 4), out=host(4, 4)), SAME),
    "two cpu numbers, cuda out": (
        lambda: torch.add(number(), number(), out=torch.empty((), device="cuda")),
        "Trying to pass too many CPU scalars to non-CPU kernel!",
    ),
    "addmm_": (lambda: gpu(4, 4).addmm_(host(4, 4), gpu(4, 4)), "wrapper_CUDA_addmm_"),
    "distributions": (lambda: torch.distributions.Normal(gpu(4), torch.ones(4).cuda()).log_prob(host(4)), TWO),
    "ctc_loss": (
        lambda: F.ctc_loss(
            gpu(5, 1, 3).log_softmax(2), torch.ones(1, 2, dtype=torch.long), torch.tensor([5]), torch.tensor([2])
        ),
        "same device|Expected",
    ),
    "numpy": (
        lambda: gpu(4).numpy(),
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
    ),
    "numpy.array": (lambda: numpy.array(gpu(4)), "can't convert cuda:0"),
    "numpy.mean of a list": (lambda: numpy.mean([gpu(1)[0], gpu(1)[0]]), "can't convert cuda:0"),
    "gradient of another device": (
        lambda: setattr(nn.Parameter(gpu(3)), "grad", torch.zeros(3)),
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'. Please ensure that the gradient and the tensor are on the same device",
    ),
    "lengths on the accelerator": (
        lambda: nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1]).cuda()),
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    ),
    "pin_memory": (
        lambda: gpu(4).pin_memory(),
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    ),
    "tensor_split": (lambda: torch.tensor_split(gpu(4), number([1]).cuda()), "to be on cpu, but it's on cuda:0"),
    "generator of the cpu": (
        lambda: torch.randn(2, device="cuda", generator=torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "generator of the accelerator": (
        lambda: torch.randperm(2, generator=torch.Generator("cuda")),
        "Expected a 'cpu' device type for generator but found 'cuda'",
    ),
    "in-place draw, generator of the cpu": (
        lambda: gpu(2).normal_(generator=torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "meshgrid": (
        lambda: torch.meshgrid(gpu(2), host(2), indexing="ij"),
        "torch.meshgrid expects all tensors to have the same device",
    ),
    "block_diag": (
        lambda: torch.block_diag(gpu(2, 2), host(2, 2)),
        "Input 0 is on device cuda:0, and input 1 is on device cpu",
    ),
    "searchsorted, sorter": (
        lambda: torch.searchsorted(gpu(3), gpu(2), sorter=labels(3)),
        "should have same device type",
    ),
    "bilinear": (lambda: nn.Bilinear(2, 2, 2).cuda()(gpu(1, 2), host(1, 2)), SAME),
    "parameters_to_vector": (
        lambda: nn.utils.parameters_to_vector([nn.Parameter(gpu(2)), nn.Parameter(host(2))]),
        "same|Found two parameters on different devices",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_a_mix_is_refused_in_pytorchs_words(case: str, sim: Simulator) -> None:
    call, words = REFUSED[case]
    with pytest.raises((RuntimeError, TypeError)) as caught:
        call()
    assert any(part in str(caught.value) for part in words.split("|"))


ACCEPTED: dict[str, tuple[Callable[[], Any], str]] = {
    "cuda + cpu number": (lambda: gpu(4) + number(), "cuda:0"),
    "cpu number + cuda": (lambda: number() + gpu(4), "cuda:0"),
    "cuda *= cpu number": (lambda: gpu(4).mul_(number(2.0)), "cuda:0"),
    "cuda ** cpu number": (lambda: gpu(4) ** number(2.0), "cuda:0"),
    "maximum": (lambda: torch.maximum(gpu(4), number()), "cuda:0"),
    "comparison": (lambda: gpu(4) > number(), "cuda:0"),
    "where with cpu numbers": (lambda: torch.where(gpu(4) > 0, number(1.0), number(0.0)), "cuda:0"),
    "masked_fill with a cpu number": (lambda: gpu(4).masked_fill(mask(4).cuda(), number()), "cuda:0"),
    "addcmul, tensor2": (lambda: torch.addcmul(gpu(4), gpu(4), number()), "cuda:0"),
    "cuda[cpu index]": (lambda: gpu(4, 4)[number([0, 1])], "cuda:0"),
    "cuda[cpu mask]": (lambda: gpu(4)[mask(4)], "cuda:0"),
    "cuda[list]": (lambda: gpu(4)[[0, 1]], "cuda:0"),
    "cuda[numpy]": (lambda: gpu(4)[numpy.array([0, 1])], "cuda:0"),
    "cpu[cuda number]": (lambda: host(4)[number(0).cuda()], "cpu"),
    "cuda[cpu] = cuda": (lambda: written(number([0, 1]), gpu(2, 4)), "cuda:0"),
    "cuda[cpu] = cpu number": (lambda: written(number([0, 1]), number()), "cuda:0"),
    "cuda[0] = cpu vector": (lambda: written(0, host(4)), "cuda:0"),
    "cuda[:] = cpu": (lambda: written(slice(None), host(4, 4)), "cuda:0"),
    "cpu[0] = cuda vector": (lambda: written(0, gpu(4), host(4, 4)), "cpu"),
    "copy_": (lambda: host(4).copy_(gpu(4)), "cpu"),
    "mse_loss of numbers": (lambda: F.mse_loss(gpu(1)[0], number()), "cuda:0"),
    "bce, weight as cpu number": (
        lambda: F.binary_cross_entropy_with_logits(gpu(4), torch.ones(4).cuda(), weight=number()),
        "cuda:0",
    ),
    "expand_as": (lambda: host(1).expand_as(gpu(4)), "cpu"),
    "view_as": (lambda: host(4).view_as(gpu(2, 2)), "cpu"),
    "type_as": (lambda: host(4).type_as(gpu(1)), "cuda:0"),
    "one_hot": (lambda: F.one_hot(labels(2).cuda()), "cuda:0"),
    "lstm": (lambda: nn.LSTM(3, 4).cuda()(gpu(2, 1, 3))[0], "cuda:0"),
    "lstm state": (lambda: nn.LSTM(3, 4).cuda()(gpu(2, 1, 3))[1][1], "cuda:0"),
    "packed lstm": (
        lambda: nn.LSTM(4, 3).cuda()(nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1])))[0].data,
        "cuda:0",
    ),
    "batch sizes of a pack": (
        lambda: nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1])).batch_sizes,
        "cpu",
    ),
    "padded again": (
        lambda: nn.utils.rnn.pad_packed_sequence(nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1])))[0],
        "cuda:0",
    ),
    "lengths of a padded pack": (
        lambda: nn.utils.rnn.pad_packed_sequence(nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1])))[1],
        "cpu",
    ),
    "pad_sequence": (lambda: nn.utils.rnn.pad_sequence([gpu(2), gpu(3)]), "cuda:0"),
    "attention": (lambda: nn.MultiheadAttention(4, 2).cuda()(*[gpu(2, 1, 4)] * 3)[0], "cuda:0"),
    "attention, evaluated": (
        lambda: nn.MultiheadAttention(4, 2, batch_first=True).cuda().eval()(*[gpu(2, 1, 4)] * 3)[0],
        "cuda:0",
    ),
    "transformer": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 1).cuda()(gpu(2, 1, 4)),
        "cuda:0",
    ),
    "causal mask": (lambda: nn.Transformer.generate_square_subsequent_mask(3, device="cuda"), "cuda:0"),
    "sdpa": (lambda: F.scaled_dot_product_attention(*[gpu(1, 1, 2, 4)] * 3, is_causal=True), "cuda:0"),
    "interpolate": (lambda: F.interpolate(gpu(1, 1, 4, 4), scale_factor=2), "cuda:0"),
    "max_pool indices": (lambda: F.max_pool2d(gpu(1, 1, 4, 4), 2, return_indices=True)[1], "cuda:0"),
    "batch_norm module": (lambda: nn.BatchNorm2d(2).cuda()(gpu(2, 2, 3, 3)), "cuda:0"),
    "dropout": (lambda: F.dropout(gpu(4)), "cuda:0"),
    "unique": (lambda: torch.unique(labels(4).cuda()), "cuda:0"),
    "topk": (lambda: gpu(4).topk(2)[1], "cuda:0"),
    "sort": (lambda: gpu(4).sort()[1], "cuda:0"),
    "nonzero": (lambda: gpu(4).nonzero(), "cuda:0"),
    "nothing selected": (lambda: gpu(4)[gpu(4) > 100], "cuda:0"),
    "multinomial": (lambda: torch.multinomial(torch.ones(4).cuda(), 2), "cuda:0"),
    "fft": (lambda: torch.fft.rfft(gpu(4)), "cuda:0"),
    "stft": (
        lambda: torch.stft(gpu(64), 16, window=torch.hann_window(16, device="cuda"), return_complex=True),
        "cuda:0",
    ),
    "svd": (lambda: torch.linalg.svd(gpu(3, 3))[1], "cuda:0"),
    "meshgrid": (
        lambda: torch.meshgrid(torch.arange(2, device="cuda"), torch.arange(2, device="cuda"), indexing="ij")[0],
        "cuda:0",
    ),
    "tril": (lambda: torch.ones(3, 3, device="cuda").tril(), "cuda:0"),
    "sum over dtype": (lambda: gpu(4).sum(dtype=torch.float64), "cuda:0"),
    "split": (lambda: gpu(4).split(2)[1], "cuda:0"),
    "chunk": (lambda: gpu(4).chunk(2)[1], "cuda:0"),
    "sparse": (lambda: torch.sparse_coo_tensor(labels(1, 2).cuda(), gpu(2), (4,)).to_dense(), "cuda:0"),
    "sparse matrix product": (lambda: torch.sparse.mm(torch.eye(3).to_sparse().cuda(), gpu(3, 3)), "cuda:0"),
    "clip_grad_norm_": (lambda: nn.utils.clip_grad_norm_([_with_gradient()], 1.0), "cuda:0"),
    "vector_to_parameters": (lambda: nn.utils.parameters_to_vector(nn.Linear(2, 2).cuda().parameters()), "cuda:0"),
    "weight_norm": (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)).cuda()(gpu(1, 3)), "cuda:0"),
    "spectral_norm": (lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3)).cuda()(gpu(1, 3)), "cuda:0"),
    "old weight_norm": (lambda: _old_weight_norm(), "cuda:0"),
    "func.vmap": (lambda: torch.func.vmap(lambda x: x * 2)(gpu(3)), "cuda:0"),
    "func.grad": (lambda: torch.func.grad(lambda x: (x**2).sum())(gpu(3)), "cuda:0"),
    "checkpoint": (lambda: _checkpointed(), "cuda:0"),
    "einsum": (lambda: torch.einsum("ij,jk->ik", gpu(2, 2), gpu(2, 2)), "cuda:0"),
    "cumsum": (lambda: gpu(4).cumsum(0), "cuda:0"),
    "distribution sample": (lambda: torch.distributions.Categorical(torch.ones(2, 3).cuda()).sample(), "cuda:0"),
    "embedding bag": (lambda: nn.EmbeddingBag(4, 3).cuda()(labels(2, 2).cuda()), "cuda:0"),
    "bilinear": (lambda: nn.Bilinear(2, 2, 2).cuda()(gpu(1, 2), gpu(1, 2)), "cuda:0"),
    "half": (lambda: gpu(4).half(), "cuda:0"),
    "complex": (lambda: torch.complex(gpu(2), gpu(2)), "cuda:0"),
    "tensor.item on both": (lambda: torch.tensor([gpu(1)[0].item()]), "cpu"),
}


def _with_gradient() -> nn.Parameter:
    parameter = nn.Parameter(gpu(3))
    parameter.sum().backward()
    return parameter


def _old_weight_norm() -> torch.Tensor:
    return nn.utils.weight_norm(nn.Linear(3, 3)).cuda()(gpu(1, 3))


def _checkpointed() -> torch.Tensor:
    from torch.utils.checkpoint import checkpoint

    layer = nn.Linear(3, 3).cuda()
    checkpoint(layer, gpu(1, 3), use_reentrant=False).sum().backward()
    assert layer.weight.grad is not None
    return layer.weight.grad


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ACCEPTED)
def test_a_legal_call_gives_a_tensor_where_it_belongs(case: str, sim: Simulator) -> None:
    call, device = ACCEPTED[case]
    assert str(call().device) == device


def test_a_gradient_must_be_where_its_output_is_unless_it_is_one_number(sim: Simulator):
    x = gpu(3).requires_grad_(True)

    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cuda:0 but got cpu"):
        (x * 2).backward(host(3))
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        torch.autograd.grad(x * 2, x, grad_outputs=host(3))
    (x * 2).backward(gpu(3))
    x.sum().backward(number())
