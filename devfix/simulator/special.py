"""Operators whose kernels check devices in their own way, and operators that need the CPU.

Each function takes the call's operands and either raises PyTorch's error or returns the device of fresh outputs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from . import errors
from .rules import Operand, Outputs, common_tag, shown
from .tags import WEAK

__all__ = ["ALWAYS", "MIXED"]


def _named(found: list[Operand], name: str) -> Operand | None:
    return next((operand for operand in found if operand.name == name), None)


def _tag(found: list[Operand], name: str) -> torch.device | None:
    operand = _named(found, name)
    return operand.tag if operand is not None else None


def _follows_self(found: list[Operand]) -> Outputs:
    """Copies: legal across devices, the result is where ``self`` is."""
    return _tag(found, "self")


def _index_read(found: list[Operand]) -> Outputs:
    """``x[indices]``: each index on the CPU or with ``x`` (TensorAdvancedIndexing.cpp in aten/src/ATen/native)."""
    own = _tag(found, "self")
    for operand in found:
        if operand.name == "indices" and operand.tag is not None and operand.tag is not own and operand.tag is not WEAK:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({shown(own)})"
            )
    out = _named(found, "out")
    if out is not None and out.tag is not own:
        raise errors.iterator_mismatch(common_tag(found), shown(None))
    return own


def _index_write(found: list[Operand]) -> Outputs:
    """``x[indices] = values``: indices are moved; values must match unless they are one number of dimension 0."""
    own = _tag(found, "self")
    values = _named(found, "values")
    if values is None or values.tag is own or WEAK in (values.tag, own):
        return own
    if values.tensor.dim() == 0 and values.tensor.numel() == 1:
        return own
    raise errors.iterator_mismatch(common_tag(found), shown(values.tag if own is not None else None))


def _masked_fill(found: list[Operand]) -> Outputs:
    """aten/src/ATen/native/cuda/Indexing.cu (masked_fill__cuda)."""
    own, mask, value = _tag(found, "self"), _named(found, "mask"), _named(found, "value")
    if value is not None and value.tag is not own and value.tag is not WEAK:
        movable = own is not None and value.tensor.dim() == 0 and value.tag is None
        if not movable:
            raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if mask is not None and mask.tag is not own and mask.tag is not WEAK and own is not WEAK:
        raise RuntimeError(
            "expected self and mask to be on the same device, but got mask on "
            f"{shown(mask.tag)} and self on {shown(own)}"
        )
    return own


def _where(found: list[Operand]) -> Outputs:
    """``where`` moves any CPU scalar to the device of the others (aten/src/ATen/native/TensorCompare.cpp)."""
    common = common_tag(found)
    for operand in found:
        movable = operand.tag is None and not operand.write and operand.tensor.dim() == 0
        if operand.tag is not common and operand.tag is not WEAK and not movable:
            raise errors.iterator_mismatch(common, shown(operand.tag))
    return common


def _index_fill(found: list[Operand]) -> Outputs:
    own, index = _tag(found, "self"), _named(found, "index")
    if index is not None and index.tag is not own and index.tag is not WEAK:
        raise errors.iterator_mismatch(common_tag(found), shown(None))
    return own


def _convolution(found: list[Operand]) -> Outputs:
    source, common = _named(found, "input"), common_tag(found)
    assert source is not None
    kind = "cpu" if source.tag is None else source.tag.type
    for name in ("weight", "bias"):
        other = _named(found, name)
        if other is None or other.tag is source.tag or WEAK in (other.tag, source.tag):
            continue
        if other.tag is not None and source.tag is not None:
            raise errors.exact_same(name, other.tag, source.tag, "wrapper_CUDA__cudnn_convolution")
        other_kind = "cpu" if other.tag is None else other.tag.type
        raise errors.conv_type_mismatch(
            errors.type_name(source.tensor.dtype, kind), name, errors.type_name(other.tensor.dtype, other_kind)
        )
    return common


def _pack_padded(found: list[Operand]) -> Outputs:
    source, lengths = _named(found, "input"), _named(found, "lengths")
    assert source is not None
    assert lengths is not None
    if lengths.tag is not None and lengths.tag is not WEAK:
        name = errors.type_name(lengths.tensor.dtype, "cpu").replace("torch.", "").replace("Tensor", "")
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.tensor.dim()}D {lengths.tag} {name} tensor"
        )
    return [source.tag, None]


def _pad_packed(found: list[Operand]) -> Outputs:
    return [_tag(found, "data"), None]


def _segment_reduce(found: list[Operand]) -> Outputs:
    """Lengths and offsets are keywords, which no generated wrapper compares (SegmentReduce.cpp)."""
    own = _tag(found, "data")
    for name in ("lengths", "offsets"):
        other = _named(found, name)
        if other is not None and other.tag is not own and WEAK not in (other.tag, own):
            raise RuntimeError(
                f"Expected data.get_device() == {name}_value.get_device() to be true, but got false.  (Could this "
                "error message be improved?  If so, please report an enhancement request to PyTorch.)"
            )
    return own


def _free(found: list[Operand]) -> Outputs:
    """Compares shapes or metadata only, or is allowed on any mix."""
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

#: Called when a call mixes devices.
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
        f"aten::{name}": _free
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
    "aten::segment_reduce": _segment_reduce,
    "aten::_foreach_copy_": _per_list("self"),
    "aten::_foreach_norm.Scalar": _per_list("self"),
}

#: Called on every call: part of the result, or an argument, is always on the CPU.
ALWAYS: dict[str, Callable[[list[Operand]], Outputs]] = {
    "aten::_pack_padded_sequence": _pack_padded,
    "aten::_pad_packed_sequence": _pad_packed,
}
