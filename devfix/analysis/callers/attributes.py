"""Attributes and methods by the kinds of values that have them."""

from __future__ import annotations

from functools import lru_cache

from devfix.analysis.callers.arguments import Kind
from devfix.models.index import Model, lookup
from devfix.models.names import NN_MODULE_METHODS

__all__ = ["is_of_modules", "is_property", "kinds_with", "tensor_method"]

# What the schemas of PyTorch's operators do not have (https://docs.pytorch.org/docs/stable/tensors.html).
_TENSOR_METHODS = frozenset(
    "to cuda cpu xpu type ipu clip clip_ absolute absolute_ arccos arccosh arcsin arcsinh arctan arctan2 arctanh "
    "fix fix_ ger greater greater_equal less less_equal moveaxis swapdims negative not_equal multiply_ size dim "
    "share_memory_ as_subclass".split()
)
_TENSOR_PROPERTIES = frozenset(
    "shape device dtype ndim grad data T mT H mH real imag requires_grad grad_fn is_cuda is_cpu is_mps is_leaf "
    "is_sparse is_quantized is_nested is_meta layout nbytes itemsize".split()
)
# https://numpy.org/doc/stable/reference/generated/numpy.ndarray.html, and those of images and tables
_ARRAY_METHODS = frozenset(
    "all any argmax argmin argpartition argsort astype byteswap choose clip compress conj conjugate copy cumprod "
    "cumsum diagonal dot dump dumps fill flatten getfield item itemset max mean min newbyteorder nonzero "
    "partition prod ptp put ravel repeat reshape resize round searchsorted setfield setflags sort squeeze std sum "
    "swapaxes take tobytes tofile tolist tostring trace transpose var view abs "
    "convert crop resize rotate save paste getpixel thumbnail split filter todense toarray tocoo tocsr groupby merge "
    "iterrows to_numpy".split()
)
_ARRAY_PROPERTIES = frozenset(
    "shape size dtype ndim T base ctypes data flags flat imag itemsize nbytes real strides "
    "width height mode iloc loc columns values".split()
)
_MODULE_PROPERTIES = frozenset({"training", "weight", "bias", "device", "dtype"})

# Methods that modules have, and optimizers, loaders and agents do not
_OF_MODULES = frozenset(
    "parameters named_parameters modules named_modules children named_children buffers named_buffers".split()
)

_METHODS: dict[Kind, frozenset[str]] = {
    Kind.ARRAY: _ARRAY_METHODS,
    Kind.MODULE: NN_MODULE_METHODS | {"forward"},
    Kind.TEXT: frozenset(dir(str)),
    Kind.LIST: frozenset({*dir(list), *dir(tuple), *dir(set)}),
    Kind.TENSORS: frozenset({*dir(list), *dir(tuple)}),
    Kind.TENSOR_DICT: frozenset(dir(dict)),
    Kind.NUMBER: frozenset({"is_integer", "bit_length", "conjugate", "as_integer_ratio"}),
}
_PROPERTIES: dict[Kind, frozenset[str]] = {
    Kind.TENSOR: _TENSOR_PROPERTIES,
    Kind.ARRAY: _ARRAY_PROPERTIES,
    Kind.MODULE: _MODULE_PROPERTIES,
    Kind.NUMBER: frozenset({"real", "imag"}),
    Kind.DEVICE: frozenset({"type", "index"}),
    Kind.DTYPE: frozenset({"is_floating_point", "is_complex", "itemsize"}),
    Kind.CALLABLE: frozenset({"__name__", "__class__", "__code__", "__module__"}),
}


@lru_cache(maxsize=4096)
def tensor_method(name: str) -> Model | None:
    """Return the model of a method of tensors; ``None`` if tensors have none of this name, or no model describes it."""
    tensor = lookup("torch.Tensor")
    return tensor.method(name) if tensor is not None else None


def is_of_modules(name: str) -> bool:
    """Return whether modules alone have the method."""
    return name in _OF_MODULES


def is_property(name: str) -> bool:
    """Return whether tensors have the attribute, and it is not called."""
    return name in _TENSOR_PROPERTIES


@lru_cache(maxsize=4096)
def kinds_with(name: str, called: bool) -> frozenset[Kind]:
    """Return the kinds of values that have a method or property; empty if only objects of other classes have it."""
    if not called:
        return frozenset(kind for kind, names in _PROPERTIES.items() if name in names)
    found = {kind for kind, names in _METHODS.items() if name in names}
    if name in _TENSOR_METHODS or tensor_method(name) is not None:
        found.add(Kind.TENSOR)
    return frozenset(found)
