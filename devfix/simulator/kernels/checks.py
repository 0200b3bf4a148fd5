"""Checks of device kernels before their first operator, which the CPU's kernels do not make."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..state import call_in_context, state
from ..tags import UNASSIGNED, get_tag, iter_tensors, put_tag, reported_device
from ..transfers import move

__all__ = ["handlers"]


def _differ(first: Tensor, second: Tensor) -> bool:
    tags = get_tag(first), get_tag(second)
    return tags[0] is not tags[1] and UNASSIGNED not in tags


def _recurrent(func: Any, args: Any, kwargs: Any) -> Any:
    """Compare input, hidden state and weights of LSTM, GRU and RNN (RNN.cpp, ``check_attributes``)."""
    if state.checks:
        tensors = list(iter_tensors(args))
        source = tensors[0]
        packed = len(args) > 3 and isinstance(args[3], (list, tuple))  # (data, batch_sizes, hx, params, ...)
        hidden_at = 2 if packed else 1
        hidden = list(iter_tensors([args[hidden_at]]))
        weights = list(iter_tensors([args[hidden_at + 1]]))
        message = "Input and {0} tensors are not at the same device, found input tensor at {1} and {0} tensor at {2}"
        for name, others in (("hidden", hidden), ("parameter", weights)):
            for other in others:
                if _differ(source, other):
                    raise RuntimeError(message.format(name, reported_device(source), reported_device(other)))
    return call_in_context(func, args, kwargs)


def _attention(func: Any, args: Any, kwargs: Any) -> Any:
    """Compare query, key and value (``validate_sdpa_input``, aten/src/ATen/native/transformers/attention.cpp)."""
    if state.checks:
        names = ("query", "key", "value", "attn_mask")
        given = {**dict(zip(names, args)), **{name: kwargs[name] for name in names if name in kwargs}}
        query, key, value = (given[name] for name in names[:3])
        devices = [reported_device(each) for each in (query, key, value)]
        if len(set(devices)) > 1:
            raise RuntimeError(
                "Expected query, key, and value to have the same device type, but got query.device: "
                f"{devices[0]} key.device: {devices[1]} and value.device: {devices[2]} instead."
            )
        mask = given.get("attn_mask")
        if isinstance(mask, Tensor) and _differ(query, mask):
            from ..errors import iterator_mismatch

            raise iterator_mismatch(devices[0], reported_device(mask))
    return call_in_context(func, args, kwargs)


def _tensor_split(func: Any, args: Any, kwargs: Any) -> Any:
    indices = args[1] if len(args) > 1 else next(iter(kwargs.values()), None)
    if isinstance(indices, Tensor) and get_tag(indices) is not None and state.checks:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {reported_device(indices)}"
        )
    return call_in_context(func, args, kwargs)


def _pad_packed(func: Any, args: Any, kwargs: Any) -> Any:
    """Tag the returned lengths as CPU tensors (aten/src/ATen/native/PackedSequence.cpp)."""
    padded, lengths = call_in_context(func, args, kwargs)
    put_tag(lengths, None)
    return padded, lengths


def _meshgrid(func: Any, args: Any, kwargs: Any) -> Any:
    tensors = list(iter_tensors(args))
    if state.checks and any(_differ(tensors[0], other) for other in tensors[1:]):
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    return call_in_context(func, args, kwargs)


def _block_diag(func: Any, args: Any, kwargs: Any) -> Any:
    tensors = list(iter_tensors(args))
    for index, other in enumerate(tensors[1:], start=1):
        if state.checks and _differ(tensors[0], other):
            raise RuntimeError(
                "torch.block_diag: input tensors must all be on the same device. Input 0 is on device "
                f"{reported_device(tensors[0])} and input {index} is on device {reported_device(other)}"
            )
    return call_in_context(func, args, kwargs)


def _searchsorted(func: Any, args: Any, kwargs: Any) -> Any:
    """Compare the sorter, a keyword that no generated wrapper compares (aten/src/ATen/native/BucketizationUtils.h)."""
    boundaries = args[0] if args else kwargs["sorted_sequence"]
    sorter = kwargs.get("sorter")
    if state.checks and isinstance(sorter, Tensor) and _differ(boundaries, sorter):
        raise RuntimeError(
            "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor "
            f"device type {reported_device(sorter)} and input value tensor device type {reported_device(boundaries)}"
        )
    return call_in_context(func, args, kwargs)


def _inner(func: Any, args: Any, kwargs: Any) -> Any:
    """Compare the operands' device types (``checkDeviceType``, aten/src/ATen/native/LinearAlgebra.cpp)."""
    first, *others = iter_tensors((*args, *kwargs.values()))
    for other in others:
        if state.checks and _differ(first, other):
            expected, found = reported_device(first).type, reported_device(other).type
            raise RuntimeError(
                f"Expected tensor to have {expected} DeviceType, but got tensor with {found} DeviceType "
                "(while checking arguments for inner())"
            )
    return call_in_context(func, args, kwargs)


def _ctc(func: Any, args: Any, kwargs: Any) -> Any:
    """Move targets and lengths, as ``ctc_loss`` does (aten/src/ATen/native/LossCTC.cpp)."""
    device = get_tag(args[0])
    moved = [move(each, device) if isinstance(each, Tensor) else each for each in args[1:4]]
    return call_in_context(func, (args[0], *moved, *args[4:]), kwargs)


def handlers() -> dict[Any, Any]:
    """Return this module's handlers, by the torch function that they replace."""
    functions: Any = torch._C._VariableFunctions
    return {
        torch.lstm: _recurrent,
        torch.gru: _recurrent,
        torch.rnn_tanh: _recurrent,
        torch.rnn_relu: _recurrent,
        torch._C._nn.scaled_dot_product_attention: _attention,
        torch._VF._pad_packed_sequence: _pad_packed,
        torch.inner: _inner,
        Tensor.inner: _inner,
        torch.ctc_loss: _ctc,
        functions.meshgrid: _meshgrid,
        functions.block_diag: _block_diag,
        torch.searchsorted: _searchsorted,
        torch.tensor_split: _tensor_split,
        Tensor.tensor_split: _tensor_split,
    }
