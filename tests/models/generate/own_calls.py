"""Calls of functions that PyTorch's operator database does not have."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

__all__ = ["CALLS", "UNSEEN"]

F = nn.functional


def _x(*shape: int) -> torch.Tensor:
    """Positive numbers below 1."""
    count = int(torch.Size(shape).numel())
    return (torch.arange(count, dtype=torch.float32).reshape(shape) + 1) / (count + 1)


def _i(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers)


def _coo() -> torch.Tensor:
    return _x(3, 3).to_sparse()


def _csr() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _x(4, 4).to_sparse_csr()


def _quantized() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(_x(2, 3), 0.1, 0, torch.quint8)


def _flat(module: nn.RNNBase) -> list[torch.Tensor]:
    return [weight.detach() for weight in module._flat_weights]  # type: ignore[union-attr]  # they are tensors


def _packed() -> tuple[torch.Tensor, torch.Tensor]:
    packed = nn.utils.rnn.pack_padded_sequence(_x(5, 3, 4), _i(5, 4, 2))
    return packed.data, packed.batch_sizes


def _recurrent() -> list[Callable[[], Any]]:
    calls: list[Callable[[], Any]] = []
    for name, kind in (("rnn_tanh", nn.RNN(4, 6)), ("rnn_relu", nn.RNN(4, 6)), ("gru", nn.GRU(4, 6))):
        function = getattr(torch, name)
        calls += [
            lambda function=function, kind=kind: function(
                _x(5, 3, 4), _x(1, 3, 6), _flat(kind), True, 1, 0.0, False, False, False
            ),
            lambda function=function, kind=kind: function(
                *_packed(), _x(1, 3, 6), _flat(kind), True, 1, 0.0, False, False
            ),
        ]
        cell = getattr(torch, f"{name}_cell")
        gates = 3 if name == "gru" else 1
        calls.append(
            lambda cell=cell, gates=gates: cell(
                _x(3, 4), _x(3, 6), _x(gates * 6, 4), _x(gates * 6, 6), _x(gates * 6), _x(gates * 6)
            )
        )
    lstm = nn.LSTM(4, 6)
    state = (_x(1, 3, 6), _x(1, 3, 6))
    return [
        *calls,
        lambda: torch.lstm(_x(5, 3, 4), state, _flat(lstm), True, 1, 0.0, False, False, False),
        lambda: torch.lstm(*_packed(), state, _flat(lstm), True, 1, 0.0, False, False),
        lambda: torch.lstm_cell(_x(3, 4), (_x(3, 6), _x(3, 6)), _x(24, 4), _x(24, 6), _x(24), _x(24)),
    ]


#: Calls on the CPU; one that fails is left out.
CALLS: tuple[Callable[[], Any], ...] = (
    # copies and comparisons of two tensors
    lambda: _x(2, 3).copy_(_x(2, 3)),
    lambda: _x(2, 3).fill_(_x()),
    lambda: torch.fill(_x(2, 3), _x()),
    lambda: _x(2, 3).numpy(),
    lambda: _x(2, 3).map_(_x(2, 3), lambda one, other: one + other),
    lambda: _x(2, 3).apply_(lambda one: one),
    lambda: _x(2, 3).type_as(_x(2, 3)),
    lambda: _x(2, 3).resize_as_(_x(3, 2)),
    lambda: _x(2, 3).is_same_size(_x(2, 3)),
    lambda: torch.is_same_size(_x(2, 3), _x(2, 3)),
    lambda: _x(2, 3).is_set_to(_x(2, 3)),
    lambda: _x(2, 3).set_(_x(3, 2)),
    lambda: torch.result_type(_x(2, 3), _x(2, 3)),
    lambda: _x(2, 3).module_load(_x(2, 3)),
    lambda: torch.slice_inverse(_x(2, 3), _x(4, 3), 0, 0, 2, 1),
    # data
    lambda: torch.tensor(_x(2, 3)),
    lambda: torch.as_tensor(_x(2, 3)),
    lambda: torch.asarray(_x(2, 3)),
    lambda: torch.from_dlpack(_x(2, 3)),
    lambda: torch.stack([_x(), _x()]),
    lambda: torch.chain_matmul(_x(2, 3), _x(3, 2)),
    lambda: torch.normal(_x(2, 3), _x(2, 3)),
    lambda: torch.normal(_x(2, 3), 1.0),
    lambda: torch.normal(1.0, _x(2, 3)),
    lambda: torch.binomial(_x(2, 3), _x(2, 3)),
    lambda: torch.bernoulli(_x(2, 3), 0.5),
    lambda: _x(2, 3).bernoulli_(_x(2, 3)),
    lambda: torch.poisson(_x(2, 3)),
    lambda: torch.polygamma(1, _x(2, 3)),
    lambda: torch.special.polygamma(1, _x(2, 3)),
    lambda: torch.special.gammainc(_x(2, 3), _x(2, 3)),
    lambda: torch.special.gammaincc(_x(2, 3), _x(2, 3)),
    # one tensor
    lambda: torch.where(_x(2, 3) > 0.5),
    lambda: torch.nonzero(_x(2, 3)),
    lambda: _x(2, 3).nonzero(),
    lambda: torch.linalg.norm(_x(3, 4), dim=1),
    lambda: torch.cov(_x(3, 4)),
    lambda: torch.corrcoef(_x(3, 4)),
    lambda: torch.slogdet(_x(3, 3)),
    lambda: torch.vander(_x(3)),
    lambda: torch.isin(1.0, _x(2, 3)),
    lambda: torch.isin(_x(2, 3), 1.0),
    lambda: torch.repeat_interleave(_i(1, 2)),
    lambda: torch.svd_lowrank(_x(4, 4), 2),
    lambda: torch.svd_lowrank(_x(4, 4), 2, 2, _x(4, 4)),
    lambda: torch.pca_lowrank(_x(4, 4), 2),
    lambda: torch.lobpcg(torch.eye(9) * _x(9), 2, torch.eye(9), _x(9, 2)),
    lambda: torch.bincount(_i(1, 2), _x(2)),
    lambda: _i(1, 2).bincount(_x(2)),
    lambda: _x(3, 3).new_tensor(_x(2)),
    lambda: _x(3, 3).new(_x(2)),
    lambda: _x(3, 3).new(2, 3),
    lambda: _x(2, 3).cpu(),
    lambda: _x(2, 3).numel(),
    lambda: _x(2, 3).type(torch.float64),
    lambda: _x(2, 3).to(torch.float64),
    lambda: _x(2, 3).to(_x(1)),
    lambda: _x(2, 3).type("torch.DoubleTensor"),
    lambda: _x(2, 3).unflatten(1, (3, 1)),
    lambda: _x(2, 3).tolist(),
    lambda: _x(2, 3).view(6),
    lambda: _x(2, 3).view((6,)),
    lambda: _x(2, 3).size(),
    lambda: _x(2, 3).size(0),
    lambda: _x(2, 3).stride(),
    lambda: _x(2, 3).stride(0),
    lambda: _x(2, 3).retain_grad(),
    lambda: torch.rand_like(_x(2, 3)),
    lambda: torch.randn_like(_x(2, 3)),
    # layers and losses under their names in torch
    lambda: torch.batch_norm(_x(2, 3), _x(3), _x(3), _x(3), _x(3), True, 0.1, 1e-5, False),
    lambda: torch.instance_norm(_x(2, 3, 4), _x(3), _x(3), _x(3), _x(3), True, 0.1, 1e-5, False),
    lambda: torch.conv_tbc(_x(5, 2, 3), _x(2, 3, 4), _x(4)),
    lambda: torch.convolution(_x(1, 2, 5), _x(3, 2, 2), _x(3), [1], [0], [1], False, [0], 1),
    lambda: torch.embedding_bag(_x(4, 3), _i(0, 1, 2), _i(0, 2)),
    lambda: torch.embedding_bag(_x(4, 3), _i(0, 1, 2), _i(0, 2), False, 0, False, _x(3)),
    lambda: torch.embedding_renorm_(_x(4, 3), _i(0, 1, 2), 1.0, 2.0),
    lambda: torch.grid_sampler(_x(1, 2, 3, 3), _x(1, 2, 2, 2), 0, 0, False),
    lambda: torch.affine_grid_generator(_x(1, 2, 3), [1, 1, 2, 2], False),
    lambda: torch.cosine_embedding_loss(_x(2, 3), _x(2, 3), _i(1, -1)),
    lambda: torch.ctc_loss(_x(5, 2, 4).log_softmax(2), _i(1, 2, 1), (5, 5), (2, 1)),
    lambda: torch.ctc_loss(_x(5, 2, 4).log_softmax(2), _i(1, 2, 1), _i(5, 5), _i(2, 1)),
    lambda: torch.kl_div(_x(2, 3), _x(2, 3)),
    lambda: torch.margin_ranking_loss(_x(3), _x(3), _x(3)),
    lambda: torch.poisson_nll_loss(_x(3), _x(3), True, False, 1e-8, 1),
    lambda: torch.hinge_embedding_loss(_x(3), _x(3)),
    lambda: torch.triplet_margin_loss(_x(2, 3), _x(2, 3), _x(2, 3)),
    lambda: torch.fake_quantize_per_tensor_affine(_x(2, 3), _x(1), torch.zeros(1, dtype=torch.int32), 0, 255),
    lambda: torch.fake_quantize_per_channel_affine(_x(2, 3), _x(2), torch.zeros(2, dtype=torch.int32), 0, 0, 255),
    lambda: F.mse_loss(_x(2, 3), _x(2, 3), weight=_x(2, 3)),
    lambda: F.smooth_l1_loss(_x(2, 3), _x(2, 3), weight=_x(2, 3)),
    lambda: F.huber_loss(_x(2, 3), _x(2, 3), weight=_x(2, 3)),
    lambda: F.affine_grid(_x(1, 2, 3), [1, 1, 2, 2]),
    lambda: F.gumbel_softmax(_x(2, 3)),
    lambda: F.fold(_x(1, 4, 4), (3, 3), (2, 2)),
    lambda: F.lp_pool1d(_x(1, 1, 4), 2.0, 2),
    lambda: F.lp_pool2d(_x(1, 1, 4, 4), 2.0, 2),
    lambda: F.lp_pool3d(_x(1, 1, 4, 4, 4), 2.0, 2),
    lambda: F.conv_tbc(_x(5, 2, 3), _x(2, 3, 4), _x(4)),
    lambda: F.dropout1d(_x(1, 2, 3)),
    lambda: F.adaptive_max_pool1d(_x(1, 2, 4), 2),
    lambda: F.adaptive_max_pool1d_with_indices(_x(1, 2, 4), 2),
    lambda: F.adaptive_max_pool2d_with_indices(_x(1, 2, 4, 4), 2),
    lambda: F.adaptive_max_pool3d_with_indices(_x(1, 2, 4, 4, 4), 2),
    lambda: F.max_pool1d_with_indices(_x(1, 2, 4), 2),
    lambda: F.max_pool2d_with_indices(_x(1, 2, 4, 4), 2),
    lambda: F.max_pool3d_with_indices(_x(1, 2, 4, 4, 4), 2),
    lambda: F.fractional_max_pool2d_with_indices(_x(1, 2, 4, 4), 2, (2, 2), None, True, _x(1, 2, 2)),
    lambda: F.fractional_max_pool3d_with_indices(_x(1, 2, 4, 4, 4), 2, (2, 2, 2), None, True, _x(1, 2, 3)),
    lambda: F.multi_head_attention_forward(
        _x(5, 2, 4),
        _x(5, 2, 4),
        _x(5, 2, 4),
        4,
        2,
        _x(12, 4),
        _x(12),
        None,
        None,
        False,
        0.0,
        _x(4, 4),
        _x(4),
        key_padding_mask=torch.zeros(2, 5),
        attn_mask=torch.zeros(5, 5),
    ),
    lambda: F.multi_head_attention_forward(
        _x(5, 2, 4),
        _x(5, 2, 4),
        _x(5, 2, 4),
        4,
        2,
        None,
        _x(12),
        None,
        None,
        False,
        0.0,
        _x(4, 4),
        _x(4),
        use_separate_proj_weight=True,
        q_proj_weight=_x(4, 4),
        k_proj_weight=_x(4, 4),
        v_proj_weight=_x(4, 4),
    ),
    # sparse, quantized and nested tensors
    lambda: torch.sparse_coo_tensor(_i(0, 1).reshape(1, 2), _x(2), (3,)),
    lambda: torch.sparse_coo_tensor(_i(0, 1).reshape(1, 2), _x(2)),
    lambda: torch.sparse_csr_tensor(_i(0, 1, 2), _i(0, 1), _x(2), (2, 2)),
    lambda: torch.sparse_csc_tensor(_i(0, 1, 2), _i(0, 1), _x(2), (2, 2)),
    lambda: torch.sparse_bsr_tensor(_i(0, 1, 2), _i(0, 1), _x(2, 1, 1), (2, 2)),
    lambda: torch.sparse_bsc_tensor(_i(0, 1, 2), _i(0, 1), _x(2, 1, 1), (2, 2)),
    lambda: torch.sparse_compressed_tensor(_i(0, 1, 2), _i(0, 1), _x(2), (2, 2), layout=torch.sparse_csr),
    lambda: torch.sparse.mm(_coo(), _x(3, 3)),
    lambda: torch.sparse.addmm(_x(3, 3), _coo(), _x(3, 3)),
    lambda: torch.sparse.sum(_coo()),
    lambda: torch.sparse.sum(_coo(), 0),
    lambda: torch.sparse.softmax(_coo(), 0),
    lambda: torch.sparse.log_softmax(_coo(), 0),
    lambda: torch.smm(_coo(), _x(3, 3)),
    lambda: _coo().smm(_x(3, 3)),
    lambda: torch.spmm(_coo(), _x(3, 3)),
    lambda: torch.dsmm(_coo(), _x(3, 3)),
    lambda: torch.hsmm(_coo(), _x(3, 3)),
    lambda: torch.hspmm(_coo(), _x(3, 3)),
    lambda: torch.saddmm(_x(3, 3), _coo(), _x(3, 3)),
    lambda: torch.sspaddmm(_coo(), _coo(), _x(3, 3)),
    lambda: _coo().sspaddmm(_coo(), _x(3, 3)),
    lambda: _x(3, 3).sparse_mask(_coo()),
    lambda: _coo().resize_as_sparse_(_coo()),
    lambda: _coo().coalesce(),
    lambda: _coo().to_dense(),
    lambda: _coo().coalesce().indices(),
    lambda: _coo().coalesce().values(),
    lambda: _csr().crow_indices(),
    lambda: _csr().col_indices(),
    lambda: _csr().to_sparse_csc().ccol_indices(),
    lambda: _csr().to_sparse_csc().row_indices(),
    lambda: _x(4, 4).to_sparse_csr(),
    lambda: _x(4, 4).to_sparse_csc(),
    lambda: _x(4, 4).to_sparse_coo(),
    lambda: _x(4, 4).to_sparse_bsr((2, 2)),
    lambda: _x(4, 4).to_sparse_bsc((2, 2)),
    lambda: torch.quantize_per_tensor(_x(2, 3), 0.1, 0, torch.quint8),
    lambda: torch.quantize_per_tensor(_x(2, 3), _x(), _i(0)[0], torch.quint8),
    lambda: torch.quantize_per_channel(_x(2, 3), _x(2), _i(0, 0), 0, torch.quint8),
    lambda: torch.dequantize(_quantized()),
    lambda: _quantized().dequantize(),
    lambda: torch.int_repr(_quantized()),
    lambda: torch.nested.as_nested_tensor([_x(2, 3), _x(3, 3)]),
    lambda: torch.nested.nested_tensor([_x(2, 3), _x(3, 3)]),
    lambda: torch.nested.nested_tensor_from_jagged(_x(5, 3), _i(0, 2, 5)),
    lambda: torch.nested.masked_select(_x(2, 3), _x(2, 3) > 0.5),
    lambda: torch.nested.narrow(_x(2, 4), 1, _i(0, 1), _i(2, 3), layout=torch.jagged),
    lambda: torch.nested.to_padded_tensor(torch.nested.nested_tensor([_x(2, 3), _x(3, 3)]), 0.0),
    lambda: torch.masked.as_masked_tensor(_x(2, 3), _x(2, 3) > 0.5),
    lambda: torch.masked.masked_tensor(_x(2, 3), _x(2, 3) > 0.5),
    *_recurrent(),
)

#: Arguments of functions that function modes do not see, or not in full.
UNSEEN: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("torch.nn.functional.l1_loss", (_x(2, 3), _x(2, 3)), {"weight": _x(2, 3)}),
    ("torch.nn.functional.upsample", (_x(1, 1, 2, 2),), {"scale_factor": 2}),
    ("torch.nn.functional.upsample_nearest", (_x(1, 1, 2, 2),), {"scale_factor": 2}),
    ("torch.nn.functional.upsample_bilinear", (_x(1, 1, 2, 2),), {"scale_factor": 2}),
)
