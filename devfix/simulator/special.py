"""Operators whose kernels have special device checks, and operators that require CPU operands.

Each function takes the call's operands, and raises PyTorch's error or returns the device of new outputs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from . import errors
from .rules import Operand, Outputs, common_tag, device_of_tag
from .state import state
from .tags import UNASSIGNED

__all__ = ["ALWAYS", "MIXED"]


def _operand(found: list[Operand], name: str) -> Operand | None:
    return next((operand for operand in found if operand.name == name), None)


def _tag(found: list[Operand], name: str) -> torch.device | None:
    operand = _operand(found, name)
    return operand.tag if operand is not None else None


def _follows_self(found: list[Operand]) -> Outputs:
    """Accept any devices; the result is on the device of ``self`` (copies)."""
    return _tag(found, "self")


def _index_read(found: list[Operand]) -> Outputs:
    """Check ``x[indices]``: each index is on the CPU or on ``x``'s device (native/TensorAdvancedIndexing.cpp)."""
    self_tag = _tag(found, "self")
    for operand in found:
        if (
            operand.name == "indices"
            and operand.tag is not None
            and operand.tag is not self_tag
            and operand.tag is not UNASSIGNED
        ):
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor "
                f"({device_of_tag(self_tag)})"
            )
    out = _operand(found, "out")
    if out is not None and out.tag is not self_tag:
        raise errors.iterator_mismatch(common_tag(found), device_of_tag(None))
    return self_tag


def _index_write(found: list[Operand]) -> Outputs:
    """Check ``x[indices] = values``: indices are moved; values must be on ``x``'s device unless they are 0-dim."""
    self_tag = _tag(found, "self")
    values = _operand(found, "values")
    if values is None or values.tag is self_tag or UNASSIGNED in (values.tag, self_tag):
        return self_tag
    if values.tensor.dim() == 0 and values.tensor.numel() == 1:
        return self_tag
    raise errors.iterator_mismatch(common_tag(found), device_of_tag(values.tag if self_tag is not None else None))


def _fused_step(found: list[Operand]) -> Outputs:
    """Check a fused optimizer step; ``lr`` may be on the CPU (aten/src/ATen/native/cuda/FusedSgdKernel.cu)."""
    common = common_tag(found)
    for operand in found:
        if operand.name != "lr" and operand.tag is not common and operand.tag is not UNASSIGNED:
            raise errors.iterator_mismatch(common, device_of_tag(operand.tag))
    return common


def _masked_fill(found: list[Operand]) -> Outputs:
    """Check ``masked_fill`` (``masked_fill__cuda`` in aten/src/ATen/native/cuda/Indexing.cu)."""
    self_tag, mask, value = _tag(found, "self"), _operand(found, "mask"), _operand(found, "value")
    if value is not None and value.tag is not self_tag and value.tag is not UNASSIGNED:
        is_movable = self_tag is not None and value.tensor.dim() == 0 and value.tag is None
        if not is_movable:
            raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if mask is not None and mask.tag is not self_tag and mask.tag is not UNASSIGNED and self_tag is not UNASSIGNED:
        raise RuntimeError(
            "expected self and mask to be on the same device, but got mask on "
            f"{device_of_tag(mask.tag)} and self on {device_of_tag(self_tag)}"
        )
    return self_tag


def _where(found: list[Operand]) -> Outputs:
    """Check ``where``, which moves 0-dim CPU tensors to the others' device (aten/src/ATen/native/TensorCompare.cpp)."""
    common = common_tag(found)
    for operand in found:
        is_movable = operand.tag is None and not operand.write and operand.tensor.dim() == 0
        if operand.tag is not common and operand.tag is not UNASSIGNED and not is_movable:
            raise errors.iterator_mismatch(common, device_of_tag(operand.tag))
    return common


def _index_fill(found: list[Operand]) -> Outputs:
    self_tag, index = _tag(found, "self"), _operand(found, "index")
    if index is not None and index.tag is not self_tag and index.tag is not UNASSIGNED:
        raise errors.iterator_mismatch(common_tag(found), device_of_tag(None))
    return self_tag


def _convolution(found: list[Operand]) -> Outputs:
    source, common = _operand(found, "input"), common_tag(found)
    assert source is not None
    kind = "cpu" if source.tag is None else source.tag.type
    for name in ("weight", "bias"):
        other = _operand(found, name)
        if other is None or other.tag is source.tag or UNASSIGNED in (other.tag, source.tag):
            continue
        if other.tag is not None and source.tag is not None:
            raise errors.exact_same(name, other.tag, source.tag, "wrapper_CUDA__cudnn_convolution")
        other_kind = "cpu" if other.tag is None else other.tag.type
        raise errors.conv_type_mismatch(
            errors.type_name(source.tensor.dtype, kind), name, errors.type_name(other.tensor.dtype, other_kind)
        )
    return common


def _pack_padded(found: list[Operand]) -> Outputs:
    source, lengths = _operand(found, "input"), _operand(found, "lengths")
    assert source is not None
    assert lengths is not None
    if lengths.tag is not None and lengths.tag is not UNASSIGNED and state.checks:
        name = errors.type_name(lengths.tensor.dtype, "cpu").replace("torch.", "").replace("Tensor", "")
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.tensor.dim()}D {lengths.tag} {name} tensor"
        )
    return [source.tag, None]


def _pad_packed(found: list[Operand]) -> Outputs:
    return [_tag(found, "data"), None]


def _segment_reduce(found: list[Operand]) -> Outputs:
    """Check lengths and offsets, keywords that no generated wrapper compares (SegmentReduce.cpp)."""
    self_tag = _tag(found, "data")
    for name in ("lengths", "offsets"):
        other = _operand(found, name)
        if other is not None and other.tag is not self_tag and UNASSIGNED not in (other.tag, self_tag):
            raise RuntimeError(
                f"Expected data.get_device() == {name}_value.get_device() to be true, but got false.  (Could this "
                "error message be improved?  If so, please report an enhancement request to PyTorch.)"
            )
    return self_tag


def _any_devices(found: list[Operand]) -> Outputs:
    """Accept any devices: the operator uses metadata only, or allows any mix."""
    return common_tag(found)


def _per_list(name: str) -> Callable[[list[Operand]], Outputs]:
    def tags(found: list[Operand]) -> Outputs:
        return [operand.tag for operand in found if operand.name == name]

    return tags


_INDEX_WRITES = (
    "index_put",
    "index_put_",
    "_index_put_impl_",
    "_unsafe_index_put",
)

#: Checks of calls that mix devices.
MIXED: dict[str, Callable[[list[Operand]], Outputs]] = {
    **{
        f"aten::{name}": _follows_self
        for name in (
            "copy_",
            "copy",
            "copy_sparse_to_sparse_",
            "_copy_from",
            "slice_scatter",
            "select_scatter",
            "diagonal_scatter",
            "as_strided_scatter",
            "fill.Tensor",
            "fill_.Tensor",
            "_resize_output_",
            "resize_as_",
            "set_.source_Tensor",
            "set_.source_Storage_storage_offset",
            "set_.source_Storage",
        )
    },
    **{f"aten::{name}": _index_read for name in ("index.Tensor", "index.Tensor_out", "_unsafe_index.Tensor")},
    **{f"aten::{name}": _index_write for name in _INDEX_WRITES},
    **{
        f"aten::{name}.{kind}": _masked_fill
        for name in ("masked_fill", "masked_fill_")
        for kind in ("Scalar", "Tensor")
    },
    **{f"aten::where.{kind}": _where for kind in ("self", "self_out")},
    **{
        f"aten::{name}.{kind}": _index_fill
        for name in ("index_fill", "index_fill_")
        for kind in ("int_Scalar", "int_Tensor")
    },
    **{
        f"aten::{name}": _any_devices
        for name in (
            "is_same_size",
            "is_set_to",
            "expand_as",
            "_local_scalar_dense",
            "embedding_renorm_",
            "bernoulli.out",
        )
    },
    **{
        f"aten::{name}": _convolution
        for name in ("convolution", "_convolution", "convolution_overrideable", "mkldnn_convolution")
    },
    **{f"aten::_fused_{name}_.tensor_lr": _fused_step for name in ("adam", "adamw", "sgd")},
    "aten::segment_reduce": _segment_reduce,
    "aten::_foreach_copy_": _per_list("self"),
    "aten::_foreach_norm.Scalar": _per_list("self"),
}

#: Checks of every call: part of the result, or an argument, is always on the CPU.
ALWAYS: dict[str, Callable[[list[Operand]], Outputs]] = {
    "aten::_pack_padded_sequence": _pack_padded,
    "aten::_pad_packed_sequence": _pad_packed,
}
