"""Calls that mix devices, written by hand: each says one fact about PyTorch in one line.

They run as they are on a real GPU, on the stand-in runtime and on the simulated device; nothing but torch is needed
(NumPy for the few that are about it).  Results are tensors, whose devices count, or plain answers.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  # everybody calls it so

try:
    import numpy
except ImportError:  # a bare machine: the cases about NumPy are recorded as not run
    numpy = None

__all__ = ["CASES"]


def gpu(*shape: int) -> Tensor:
    return torch.randn(*shape).cuda()


def host(*shape: int) -> Tensor:
    return torch.randn(*shape)


def number(value: Any = 1.0) -> Tensor:
    return torch.tensor(value)


def labels(*shape: int) -> Tensor:
    return torch.zeros(*shape, dtype=torch.long)


def mask(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.bool)


def written(index: Any, value: Tensor, target: Any = None) -> Tensor:
    target = gpu(4, 4) if target is None else target
    target[index] = value
    return target


def with_gradient() -> nn.Parameter:
    parameter = nn.Parameter(gpu(3))
    parameter.sum().backward()
    return parameter


def old_weight_norm() -> Tensor:
    return nn.utils.weight_norm(nn.Linear(3, 3)).cuda()(gpu(1, 3))


def checkpointed() -> Tensor:
    from torch.utils.checkpoint import checkpoint

    layer = nn.Linear(3, 3).cuda()
    checkpoint(layer, gpu(1, 3), use_reentrant=False).sum().backward()
    assert layer.weight.grad is not None
    return layer.weight.grad


def backward(layer: nn.Module) -> nn.Module:
    layer(gpu(4, 3)).sum().backward()
    return layer


def stepped_before_move(kind: Any) -> Tensor:
    """An optimizer made before its module moves."""
    layer = nn.Linear(3, 2)
    optimizer = kind(layer.parameters(), lr=0.1)
    backward(layer.cuda())
    optimizer.step()
    return layer.weight


def restored(moved_first: bool) -> Tensor:
    """An optimizer whose state is loaded before or after its module moves."""
    layer = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(host(4, 3)).sum().backward()
    optimizer.step()
    other = nn.Linear(3, 2)
    if moved_first:
        other.cuda()
    fresh = torch.optim.Adam(other.parameters())
    fresh.load_state_dict(optimizer.state_dict())
    backward(other.cuda())
    fresh.step()
    return fresh.state[other.weight]["exp_avg"]


def same_parameter() -> bool:
    layer = nn.Linear(3, 2)
    before = layer.weight
    return layer.cuda().weight is before


def buffer_bound_anew() -> bool:
    layer = nn.BatchNorm1d(3)
    before = layer.running_mean
    layer.cuda()
    return layer.running_mean.is_cuda and not before.is_cuda


def saved(**how: Any) -> Tensor:
    memory = io.BytesIO()
    torch.save({"x": gpu(4)}, memory)
    memory.seek(0)
    return torch.load(memory, **how)["x"]


def by_default() -> Tensor:
    torch.set_default_device("cuda")
    try:
        return torch.zeros(2)
    finally:
        torch.set_default_device(None)


def in_context() -> Tensor:
    with torch.device("cuda"):
        return torch.zeros(2)


def kept_count(step: Callable[[], Any]) -> Tensor:
    total = number(0.0)
    total += step()
    return total


CASES: dict[str, Callable[[], Any]] = {
    "cpu number += cuda number": lambda: number().add_(gpu(1)[0]),
    "cpu vector * cuda number": lambda: host(4) * gpu(1)[0],
    "cuda + cpu shape [1]": lambda: gpu(4) + host(1),
    "clamp with a cpu bound": lambda: gpu(4).clamp(min=number()),
    "clamp_min": lambda: gpu(4).clamp_min(number()),
    "logaddexp": lambda: torch.logaddexp(gpu(4), number()),
    "where with a cpu mask": lambda: torch.where(mask(4, 4), gpu(4, 4), gpu(4, 4)),
    "masked_fill with a cpu mask": lambda: gpu(4, 4).masked_fill(mask(4, 4), 0.0),
    "masked_fill with a 0-dim cpu mask": lambda: gpu(4).masked_fill(number(True), 0.0),
    "masked_fill of the cpu with a cuda value": lambda: host(4).masked_fill(mask(4), gpu(1)[0]),
    "masked_select": lambda: gpu(4).masked_select(mask(4)),
    "embedding, 0-dim cpu index": lambda: F.embedding(number(3), gpu(4, 4)),
    "embedding, cpu table": lambda: F.embedding(labels(3).cuda(), host(4, 4)),
    "embedding_bag": lambda: F.embedding_bag(labels(2, 2), gpu(4, 4)),
    "index_select": lambda: gpu(4, 4).index_select(0, number(3)),
    "cpu[cuda index]": lambda: host(4)[labels(2).cuda()],
    "cpu[cuda mask]": lambda: host(4)[mask(4).cuda()],
    "cuda[cpu] = cpu vector": lambda: written(number([0, 1]), host(4)),
    "cuda[mask] = cpu vector": lambda: written(mask(4, 4).cuda(), host(16)),
    "gather": lambda: gpu(4, 4).gather(0, labels(4, 4)),
    "scatter": lambda: gpu(4, 4).scatter(0, labels(4, 4), 1.0),
    "scatter_add": lambda: gpu(4).scatter_add(0, labels(4).cuda(), host(4)),
    "index_add": lambda: gpu(4, 4).index_add(0, number([0, 1]), gpu(2, 4)),
    "index_copy": lambda: gpu(4, 4).index_copy(0, number([0, 1]), gpu(2, 4)),
    "index_fill": lambda: gpu(4, 4).index_fill(0, number([0, 1]), 0.0),
    "take": lambda: gpu(4).take(labels(2)),
    "cat": lambda: torch.cat([gpu(4, 4), host(4, 4)]),
    "stack of numbers": lambda: torch.stack([gpu(1)[0], number()]),
    "hstack": lambda: torch.hstack([gpu(4), host(4)]),
    "mm": lambda: gpu(4, 4) @ host(4, 4),
    "bmm": lambda: torch.bmm(host(1, 4, 4), gpu(1, 4, 4)),
    "dot": lambda: gpu(4).dot(host(4)),
    "einsum": lambda: torch.einsum("ij,jk->ik", gpu(4, 4), host(4, 4)),
    "linear, cpu input": lambda: nn.Linear(4, 4).cuda()(host(2, 4)),
    "linear, cpu bias": lambda: F.linear(gpu(2, 4), gpu(4, 4), host(4)),
    "cross_entropy, target": lambda: F.cross_entropy(gpu(4, 4), labels(4)),
    "cross_entropy, 0-dim target": lambda: F.cross_entropy(gpu(4), number(1)),
    "cross_entropy, weight": lambda: F.cross_entropy(gpu(4, 4), labels(4).cuda(), weight=torch.ones(4)),
    "cross_entropy, soft target": lambda: F.cross_entropy(gpu(4, 4), host(4, 4)),
    "cross_entropy of images": lambda: F.cross_entropy(gpu(1, 4, 2, 2), labels(1, 2, 2)),
    "bce": lambda: F.binary_cross_entropy(torch.sigmoid(gpu(4)), torch.ones(4)),
    "bce with logits": lambda: F.binary_cross_entropy_with_logits(gpu(4), torch.ones(4)),
    "bce with logits, pos_weight": lambda: F.binary_cross_entropy_with_logits(
        gpu(2, 4), torch.ones(2, 4).cuda(), pos_weight=torch.ones(4)
    ),
    "huber_loss": lambda: F.huber_loss(gpu(1)[0], number()),
    "mse_loss": lambda: F.mse_loss(gpu(4, 4), host(4, 4)),
    "mse_loss, cpu number as target": lambda: F.mse_loss(gpu(4), number()),
    "l1_loss": lambda: F.l1_loss(gpu(4), host(4)),
    "kl_div": lambda: F.kl_div(gpu(4), host(4)),
    "triplet": lambda: F.triplet_margin_loss(gpu(2, 4), gpu(2, 4), host(2, 4)),
    "cosine_embedding": lambda: F.cosine_embedding_loss(gpu(2, 4), gpu(2, 4), torch.ones(2)),
    "cosine_similarity": lambda: F.cosine_similarity(gpu(2, 4), host(2, 4)),
    "conv, cpu input": lambda: F.conv2d(host(1, 1, 4, 4), gpu(1, 1, 3, 3)),
    "conv, cpu weight": lambda: F.conv2d(gpu(1, 1, 4, 4), host(1, 1, 3, 3)),
    "conv, cpu bias": lambda: F.conv2d(gpu(1, 1, 4, 4), gpu(1, 1, 3, 3), host(1)),
    "conv_transpose": lambda: F.conv_transpose1d(host(1, 1, 4), gpu(1, 1, 3)),
    "batch_norm, cpu statistics": lambda: F.batch_norm(gpu(2, 4), torch.zeros(4), torch.ones(4), training=True),
    "layer_norm": lambda: nn.LayerNorm(4)(gpu(2, 4)),
    "group_norm": lambda: nn.GroupNorm(2, 4)(gpu(2, 4)),
    "prelu": lambda: nn.PReLU()(gpu(4)),
    "lstm, cpu input": lambda: nn.LSTM(3, 4).cuda()(host(2, 1, 3)),
    "gru, cpu hidden": lambda: nn.GRU(3, 4).cuda()(gpu(2, 1, 3), host(1, 1, 4)),
    "lstm, cpu cell state": lambda: nn.LSTM(3, 4).cuda()(gpu(2, 1, 3), (gpu(1, 1, 4), host(1, 1, 4))),
    "lstm cell": lambda: nn.LSTMCell(3, 4).cuda()(host(1, 3)),
    "attention module": lambda: nn.MultiheadAttention(4, 2).cuda()(host(2, 1, 4), host(2, 1, 4), host(2, 1, 4)),
    "sdpa, value": lambda: F.scaled_dot_product_attention(gpu(1, 1, 2, 4), gpu(1, 1, 2, 4), host(1, 1, 2, 4)),
    "sdpa, mask": lambda: F.scaled_dot_product_attention(
        gpu(1, 1, 2, 4), gpu(1, 1, 2, 4), gpu(1, 1, 2, 4), attn_mask=mask(2, 2)
    ),
    "transformer layer, positions": lambda: nn.TransformerEncoderLayer(4, 2, 8).cuda()(gpu(2, 1, 4) + host(2, 1, 4)),
    "grid_sample": lambda: F.grid_sample(gpu(1, 1, 2, 2), host(1, 2, 2, 2)),
    "addcdiv": lambda: torch.addcdiv(gpu(4), gpu(4), number()),
    "addcmul, tensor1": lambda: torch.addcmul(gpu(4), number(), gpu(4)),
    "lerp": lambda: torch.lerp(gpu(4), gpu(4), number()),
    "equal": lambda: torch.equal(gpu(4), host(4)),
    "allclose": lambda: torch.allclose(gpu(4), host(4)),
    "isin": lambda: torch.isin(gpu(4), host(4)),
    "bucketize": lambda: torch.bucketize(gpu(4), host(4)),
    "bincount, weights": lambda: torch.bincount(labels(4).cuda(), host(4)),
    "cdist": lambda: torch.cdist(gpu(2, 4), host(2, 4)),
    "cross": lambda: torch.linalg.cross(gpu(3), host(3)),
    "solve": lambda: torch.linalg.solve(gpu(3, 3), host(3)),
    "max of two": lambda: torch.max(gpu(4), host(4)),
    "out=": lambda: torch.add(gpu(4), gpu(4), out=host(4)),
    "mm out=": lambda: torch.mm(gpu(4, 4), gpu(4, 4), out=host(4, 4)),
    "two cpu numbers, cuda out": lambda: torch.add(number(), number(), out=torch.empty((), device="cuda")),
    "addmm_": lambda: gpu(4, 4).addmm_(host(4, 4), gpu(4, 4)),
    "distributions": lambda: torch.distributions.Normal(gpu(4), torch.ones(4).cuda()).log_prob(host(4)),
    "ctc_loss": lambda: F.ctc_loss(
        gpu(5, 1, 3).log_softmax(2), torch.ones(1, 2, dtype=torch.long), torch.tensor([5]), torch.tensor([2])
    ),
    "numpy": lambda: gpu(4).numpy(),
    "numpy.array": lambda: numpy.array(gpu(4)),
    "numpy.mean of a list": lambda: numpy.mean([gpu(1)[0], gpu(1)[0]]),
    "gradient of another device": lambda: setattr(nn.Parameter(gpu(3)), "grad", torch.zeros(3)),
    "lengths on the accelerator": lambda: nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1]).cuda()),
    "pin_memory": lambda: gpu(4).pin_memory(),
    "tensor_split": lambda: torch.tensor_split(gpu(4), number([1]).cuda()),
    "generator of the cpu": lambda: torch.randn(2, device="cuda", generator=torch.Generator()),
    "generator of the accelerator": lambda: torch.randperm(2, generator=torch.Generator("cuda")),
    "in-place draw, generator of the cpu": lambda: gpu(2).normal_(generator=torch.Generator()),
    "meshgrid": lambda: torch.meshgrid(gpu(2), host(2), indexing="ij"),
    "block_diag": lambda: torch.block_diag(gpu(2, 2), host(2, 2)),
    "searchsorted, sorter": lambda: torch.searchsorted(gpu(3), gpu(2), sorter=labels(3)),
    "bilinear": lambda: nn.Bilinear(2, 2, 2).cuda()(gpu(1, 2), host(1, 2)),
    "parameters_to_vector": lambda: nn.utils.parameters_to_vector([nn.Parameter(gpu(2)), nn.Parameter(host(2))]),
    "cuda + cpu number": lambda: gpu(4) + number(),
    "cpu number + cuda": lambda: number() + gpu(4),
    "cuda *= cpu number": lambda: gpu(4).mul_(number(2.0)),
    "cuda ** cpu number": lambda: gpu(4) ** number(2.0),
    "maximum": lambda: torch.maximum(gpu(4), number()),
    "comparison": lambda: gpu(4) > number(),
    "where with cpu numbers": lambda: torch.where(gpu(4) > 0, number(1.0), number(0.0)),
    "masked_fill with a cpu number": lambda: gpu(4).masked_fill(mask(4).cuda(), number()),
    "addcmul, tensor2": lambda: torch.addcmul(gpu(4), gpu(4), number()),
    "cuda[cpu index]": lambda: gpu(4, 4)[number([0, 1])],
    "cuda[cpu mask]": lambda: gpu(4)[mask(4)],
    "cuda[list]": lambda: gpu(4)[[0, 1]],
    "cuda[numpy]": lambda: gpu(4)[numpy.array([0, 1])],
    "cpu[cuda number]": lambda: host(4)[number(0).cuda()],
    "cuda[cpu] = cuda": lambda: written(number([0, 1]), gpu(2, 4)),
    "cuda[cpu] = cpu number": lambda: written(number([0, 1]), number()),
    "cuda[0] = cpu vector": lambda: written(0, host(4)),
    "cuda[:] = cpu": lambda: written(slice(None), host(4, 4)),
    "cpu[0] = cuda vector": lambda: written(0, gpu(4), host(4, 4)),
    "copy_": lambda: host(4).copy_(gpu(4)),
    "mse_loss of numbers": lambda: F.mse_loss(gpu(1)[0], number()),
    "bce, weight as cpu number": lambda: F.binary_cross_entropy_with_logits(
        gpu(4), torch.ones(4).cuda(), weight=number()
    ),
    "expand_as": lambda: host(1).expand_as(gpu(4)),
    "view_as": lambda: host(4).view_as(gpu(2, 2)),
    "type_as": lambda: host(4).type_as(gpu(1)),
    "one_hot": lambda: F.one_hot(labels(2).cuda()),
    "lstm": lambda: nn.LSTM(3, 4).cuda()(gpu(2, 1, 3))[0],
    "lstm state": lambda: nn.LSTM(3, 4).cuda()(gpu(2, 1, 3))[1][1],
    "packed lstm": lambda: (
        nn.LSTM(4, 3).cuda()(nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1])))[0].data
    ),
    "batch sizes of a pack": lambda: nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1])).batch_sizes,
    "padded again": lambda: nn.utils.rnn.pad_packed_sequence(
        nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1]))
    )[0],
    "lengths of a padded pack": lambda: nn.utils.rnn.pad_packed_sequence(
        nn.utils.rnn.pack_padded_sequence(gpu(3, 2, 4), number([3, 1]))
    )[1],
    "pad_sequence": lambda: nn.utils.rnn.pad_sequence([gpu(2), gpu(3)]),
    "attention": lambda: nn.MultiheadAttention(4, 2).cuda()(*[gpu(2, 1, 4)] * 3)[0],
    "attention, evaluated": lambda: nn.MultiheadAttention(4, 2, batch_first=True).cuda().eval()(*[gpu(2, 1, 4)] * 3)[0],
    "transformer": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 1).cuda()(gpu(2, 1, 4)),
    "causal mask": lambda: nn.Transformer.generate_square_subsequent_mask(3, device="cuda"),
    "sdpa": lambda: F.scaled_dot_product_attention(*[gpu(1, 1, 2, 4)] * 3, is_causal=True),
    "interpolate": lambda: F.interpolate(gpu(1, 1, 4, 4), scale_factor=2),
    "max_pool indices": lambda: F.max_pool2d(gpu(1, 1, 4, 4), 2, return_indices=True)[1],
    "batch_norm module": lambda: nn.BatchNorm2d(2).cuda()(gpu(2, 2, 3, 3)),
    "dropout": lambda: F.dropout(gpu(4)),
    "unique": lambda: torch.unique(labels(4).cuda()),
    "topk": lambda: gpu(4).topk(2)[1],
    "sort": lambda: gpu(4).sort()[1],
    "nonzero": lambda: gpu(4).nonzero(),
    "nothing selected": lambda: gpu(4)[gpu(4) > 100],
    "multinomial": lambda: torch.multinomial(torch.ones(4).cuda(), 2),
    "fft": lambda: torch.fft.rfft(gpu(4)),
    "stft": lambda: torch.stft(gpu(64), 16, window=torch.hann_window(16, device="cuda"), return_complex=True),
    "svd": lambda: torch.linalg.svd(gpu(3, 3))[1],
    "meshgrid, accepted": lambda: torch.meshgrid(
        torch.arange(2, device="cuda"), torch.arange(2, device="cuda"), indexing="ij"
    )[0],
    "tril": lambda: torch.ones(3, 3, device="cuda").tril(),
    "sum over dtype": lambda: gpu(4).sum(dtype=torch.float64),
    "split": lambda: gpu(4).split(2)[1],
    "chunk": lambda: gpu(4).chunk(2)[1],
    "sparse": lambda: torch.sparse_coo_tensor(labels(1, 2).cuda(), gpu(2), (4,)).to_dense(),
    "sparse matrix product": lambda: torch.sparse.mm(torch.eye(3).to_sparse().cuda(), gpu(3, 3)),
    "clip_grad_norm_": lambda: nn.utils.clip_grad_norm_([with_gradient()], 1.0),
    "vector_to_parameters": lambda: nn.utils.parameters_to_vector(nn.Linear(2, 2).cuda().parameters()),
    "weight_norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)).cuda()(gpu(1, 3)),
    "spectral_norm": lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3)).cuda()(gpu(1, 3)),
    "old weight_norm": lambda: old_weight_norm(),
    "func.vmap": lambda: torch.func.vmap(lambda x: x * 2)(gpu(3)),
    "func.grad": lambda: torch.func.grad(lambda x: (x**2).sum())(gpu(3)),
    "checkpoint": lambda: checkpointed(),
    "einsum, accepted": lambda: torch.einsum("ij,jk->ik", gpu(2, 2), gpu(2, 2)),
    "cumsum": lambda: gpu(4).cumsum(0),
    "distribution sample": lambda: torch.distributions.Categorical(torch.ones(2, 3).cuda()).sample(),
    "embedding bag": lambda: nn.EmbeddingBag(4, 3).cuda()(labels(2, 2).cuda()),
    "bilinear, accepted": lambda: nn.Bilinear(2, 2, 2).cuda()(gpu(1, 2), gpu(1, 2)),
    "half": lambda: gpu(4).half(),
    "complex": lambda: torch.complex(gpu(2), gpu(2)),
    "tensor.item on both": lambda: torch.tensor([gpu(1)[0].item()]),
    "tensor of a list of cuda numbers": lambda: torch.tensor([gpu(1)[0]]),
    "tensor of a cuda tensor": lambda: torch.tensor(gpu(2)),
    "as_tensor of a cuda tensor": lambda: torch.as_tensor(gpu(2)),
    "zeros_like": lambda: torch.zeros_like(gpu(2)),
    "rand_like": lambda: torch.rand_like(gpu(2)),
    "new_zeros": lambda: gpu(2).new_zeros(3),
    "new_tensor": lambda: gpu(2).new_tensor([1.0]),
    "randn with a device": lambda: torch.randn(2, device="cuda"),
    "tensor with a device": lambda: torch.tensor([1], device="cuda"),
    "type of a cuda tensor": lambda: gpu(2).type(),
    "legacy constructor": lambda: torch.cuda.FloatTensor(2),
    "parameter of a cuda tensor": lambda: nn.Parameter(gpu(2)),
    "detach": lambda: gpu(2).detach(),
    "data": lambda: gpu(2).data,
    "view and element": lambda: gpu(2, 2).view(-1)[0],
    "deepcopy of a module": lambda: copy.deepcopy(nn.Linear(2, 2).cuda()).weight,
    "clone": lambda: gpu(2).clone(),
    "contiguous": lambda: gpu(2, 3).t().contiguous(),
    "sum": lambda: gpu(2).sum(),
    "max with indices": lambda: gpu(2, 2).max(1)[1],
    "gradient of a cuda module": lambda: backward(nn.Linear(3, 2).cuda()).weight.grad,
    "adam made before the move": lambda: stepped_before_move(torch.optim.Adam),
    "sgd made before the move": lambda: stepped_before_move(torch.optim.SGD),
    "adagrad made before the move": lambda: stepped_before_move(torch.optim.Adagrad),
    "optimizer state loaded before the move": lambda: restored(moved_first=False),
    "optimizer state loaded after the move": lambda: restored(moved_first=True),
    "module.cuda() keeps its parameters": same_parameter,
    "module.cuda() binds buffers anew": buffer_bound_anew,
    "a moved leaf is no leaf": lambda: torch.randn(3, requires_grad=True).cuda().is_leaf,
    "save and load": saved,
    "save and load to the cpu": lambda: saved(map_location="cpu"),
    "repr names the device": lambda: "device='cuda:0'" in repr(gpu(2)),
    "a number in a format": lambda: len(f"{gpu(2).sum() * 0:.2f}"),
    "set_default_device": by_default,
    "with torch.device": in_context,
    "running total on the cpu, in place": lambda: kept_count(lambda: gpu(4).sum()),
    "running total on the cpu": lambda: number(0.0) + gpu(4).sum(),
    "running total, python number": lambda: 0 + gpu(4).sum(),
    "list as index": lambda: host(4)[[0, 1]],
    "cpu[cuda index] = cpu": lambda: written(labels(2).cuda(), host(2, 4), host(4, 4)),
    "cpu[cuda index] = cuda": lambda: written(labels(2).cuda(), gpu(2, 4), host(4, 4)),
    "cpu[cuda mask] = number": lambda: written(mask(4, 4).cuda(), 0.0, host(4, 4)),
    "cuda[cpu mask] = number": lambda: written(mask(4, 4), 0.0),
    "cuda[cpu mask] = cpu number": lambda: written(mask(4, 4), number()),
    "cpu[cpu] = cuda number": lambda: written(labels(2), gpu(1)[0], host(4, 4)),
    "cpu[slice] = cuda number": lambda: written(slice(1), gpu(1)[0], host(4, 4)),
    "two cuda indices, one of the cpu": lambda: gpu(4, 4)[labels(2).cuda(), labels(2)],
    "cpu number in cat": lambda: torch.cat([gpu(2), host(1)]),
    "where with python numbers": lambda: torch.where(gpu(4) > 0, 1.0, 0.0),
    "where with a 0-dim cpu condition": lambda: torch.where(number(True), gpu(4), gpu(4)),
    "linear, all but the weight": lambda: F.linear(gpu(2, 4), host(4, 4), gpu(4)),
    "matrix times vector": lambda: gpu(4, 4) @ host(4),
    "positional encoding": lambda: gpu(1, 2, 4) + host(1, 2, 4),
    "masked attention": lambda: gpu(2, 2).masked_fill(torch.tril(torch.ones(2, 2)) == 0, float("-inf")),
    "one-hot label smoothing": lambda: torch.zeros(2, 4).scatter_(1, labels(2, 1).cuda(), 1.0),
    "topk accuracy": lambda: gpu(2, 4).topk(1)[1].eq(labels(2, 1)),
    "argmax == labels": lambda: gpu(2, 4).argmax(1) == labels(2),
    "list of cuda numbers summed": lambda: sum([gpu(1)[0], gpu(1)[0]]),
    "load_state_dict across devices": lambda: (
        nn.Linear(2, 2).cuda().load_state_dict(nn.Linear(2, 2).state_dict()) and 1
    ),
    "bool of a cuda tensor": lambda: isinstance(bool(mask(1).cuda()), bool),
    "tolist": lambda: len(gpu(3).tolist()),
    "range of a cuda number": lambda: len(range(labels(1).cuda()[0])),
    "arange with a cuda end": lambda: torch.arange(number(3).cuda()),
    "full with a cuda value": lambda: torch.full((2,), gpu(1)[0].item()),
    "linspace with a cuda end": lambda: torch.linspace(number(0.0), gpu(1)[0], 2),
    "grid of both": lambda: torch.stack(torch.meshgrid(host(2), host(2), indexing="ij")),
    "embedding module left behind": lambda: nn.Embedding(4, 2)(labels(2).cuda()),
    "pad": lambda: F.pad(gpu(2, 2), (1, 1)),
    "multi_head weights left behind": lambda: nn.MultiheadAttention(4, 2)(*[gpu(2, 1, 4)] * 3)[0],
}
