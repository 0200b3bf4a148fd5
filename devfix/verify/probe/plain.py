"""Plain tensors inside of tensors whose class or functorch level answers operators on its own."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

__all__ = ["is_transformed", "memory", "plain_tensors", "sizes"]


def is_transformed(tensor: Any) -> bool:
    """Whether a tensor belongs to a level of ``vmap``, ``grad`` or another transform of ``torch.func``."""
    import torch

    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


def plain_tensors(tensor: Any) -> Iterator[Any]:
    """Yield the tensors with memory that a tensor consists of: itself, if it is an ordinary one.

    A wrapper of ``torch.func`` yields the values of its whole batch; a ``DTensor`` the local shard; a jagged tensor its
    values and offsets; a nested tensor its components; a parameter that ``FSDP`` has resharded and a fake tensor, which
    has no numbers, nothing.  Call it in :func:`.parameters.untracked`.

    Args:
        tensor: a tensor of any class; ``__tensor_flatten__`` lists the parts of a wrapper subclass
            (https://docs.pytorch.org/docs/stable/notes/extending.html).

    """
    import torch

    while is_transformed(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    if hasattr(tensor, "trigger_wait"):  # the result of an asynchronous collective
        tensor = tensor.trigger_wait()
    flatten = getattr(type(tensor), "__tensor_flatten__", None)
    if flatten is not None:
        for part in (getattr(tensor, name) for name in flatten(tensor)[0]):
            if isinstance(part, torch.Tensor):  # a DTensor's mesh is none
                yield from plain_tensors(part)
    elif tensor.is_nested:
        yield from tensor.unbind()
    elif not (_is_freed(tensor) or isinstance(tensor, torch._subclasses.FakeTensor)):
        yield tensor


def memory(tensor: Any) -> bytes:
    """Return the bytes of a contiguous CPU tensor, without NumPy: the script's interpreter may have none.

    Raises:
        RuntimeError: the tensor has no memory on the CPU.

    """
    size = tensor.numel() * tensor.element_size()
    if not size:
        return b""
    if not tensor.is_contiguous() or tensor.device.type != "cpu" or not tensor.data_ptr():
        raise RuntimeError("not a contiguous tensor with memory on the CPU")
    return ctypes.string_at(tensor.data_ptr(), size)


def sizes(tensor: Any) -> list[int]:
    """Return the shape of a tensor; -1 for the sizes that differ within a nested tensor."""
    if tensor.is_nested:
        components = [tuple(each.shape) for each in tensor.unbind()]
        return [len(components), *(same[0] if len(set(same)) == 1 else -1 for same in zip(*components))]
    return list(tensor.shape)


def _is_freed(tensor: Any) -> bool:
    """Whether a tensor's memory was freed by resizing its storage to 0; a kernel that read it would crash."""
    try:
        return tensor.untyped_storage().nbytes() == 0 and tensor.numel() > 0 and not tensor.is_meta
    except (NotImplementedError, RuntimeError):  # a sparse tensor has no storage
        return False
