"""Work of a run: the arithmetic of its ATen calls, by phase of the training and by device.

A call weighs as much as its floating-point operations where a formula is known (products and decompositions of
matrices, convolutions, attention, distances, Fourier transforms), otherwise as many as the elements that it reads or
writes.  Copies, views and 0-dim bookkeeping weigh nothing.

The formulas are those of ``torch.utils.flop_counter``:
https://github.com/pytorch/pytorch/blob/main/torch/utils/flop_counter.py
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from ctypes import string_at
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.utils._python_dispatch import _disable_current_modes

from .host_chains import HostChains

__all__ = ["Choices", "WorkLedger", "is_composite", "is_trainable", "mark_trained"]

#: Phases: the forward pass under autograd, the backward pass, layers and calls of models without gradients, updates
#: without gradients of parameters and of what is computed from them (optimizers, averages, norms), and everything else
#: (collation, metrics).
PHASES = ("forward", "backward", "evaluation", "update", "other")

_MOVES = frozenset(
    (
        *("_to_copy", "copy_", "clone", "contiguous", "lift_fresh", "empty", "empty_like", "empty_strided"),
        *("new_empty", "new_empty_strided", "resize_", "set_", "detach_", "_local_scalar_dense", "item"),
        *("_pin_memory", "is_pinned", "zero_", "fill_", "ones_like", "zeros_like", "record_stream"),
    )
)

#: Moves whose result has the values of their first operand, or that of ``copy_`` of its second.
_COPIES = frozenset(("_to_copy", "copy_", "clone", "contiguous", "lift_fresh", "detach", "_pin_memory"))

_LAYERS = frozenset(
    (
        *("embedding", "embedding_bag", "_embedding_bag", "_embedding_bag_forward_only"),
        *("native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"),
        *("native_layer_norm", "native_group_norm", "_fused_rms_norm", "prelu", "_prelu_kernel"),
        *("lstm", "gru", "rnn_tanh", "rnn_relu", "mkldnn_rnn_layer", "_cudnn_rnn", "_thnn_fused_lstm_cell"),
    )
)

_Cost = Callable[[Any, Any], int]


def _product(position: int) -> _Cost:
    """Return the cost of a matrix product whose left operand is argument ``position``."""
    return lambda args, result: 2 * result.numel() * args[position].shape[-1]


def _decomposition(args: Any, result: Any) -> int:
    return int(args[0].numel() * min(args[0].shape[-2:]))


def _transform(args: Any, result: Any) -> int:
    """Return the cost of a fast Fourier transform over the dimensions of argument 1."""
    points = max(args[0].numel(), result.numel())
    length = math.prod(max(args[0].shape[dim], result.shape[dim]) for dim in args[1])
    return int(5 * points * math.log2(max(2, length)))


def _convolution(args: Any, result: Any) -> int:
    source, weight = args[0], args[1]
    transposed = args[6] if len(args) > 6 and isinstance(args[6], bool) else False
    return int(2 * (source if transposed else result).numel() * math.prod(weight.shape[1:]))


def _convolution_backward(args: Any, result: Any) -> int:
    return int(4 * args[0].numel() * math.prod(args[2].shape[1:]))


def _attention(args: Any, result: Any) -> int:
    return int(4 * args[0].numel() * args[1].shape[-2])


def _attention_backward(args: Any, result: Any) -> int:
    return int(10 * args[1].numel() * args[2].shape[-2])


_COSTS: dict[str, _Cost] = {
    "mm": _product(0),
    "bmm": _product(0),
    "mv": _product(0),
    "addmm": _product(1),
    "baddbmm": _product(1),
    "addmv": _product(1),
    "linear": _product(0),
    "_addmm_activation": _product(1),
    "dot": lambda args, result: 2 * args[0].numel(),
    "vdot": lambda args, result: 2 * args[0].numel(),
    "_cdist_forward": _product(0),
    "_euclidean_dist": _product(0),
    "_pdist_forward": _product(0),
    "_trilinear": lambda args, result: int(2 * result.numel() * math.prod(args[1].shape[1:])),
    "_sparse_addmm": lambda args, result: int(2 * args[1]._nnz() * result.shape[-1]),
    "cholesky_solve": _product(1),
    "linalg_solve_triangular": _product(0),
    "linalg_lu_solve": _product(0),
    **dict.fromkeys(
        (
            *("linalg_cholesky_ex", "linalg_inv_ex", "linalg_lu_factor_ex", "linalg_ldl_factor_ex", "linalg_qr"),
            *("_linalg_solve_ex", "_linalg_det", "_linalg_slogdet", "_linalg_eigh", "_linalg_svd", "linalg_eig"),
            *("_linalg_eigvals", "linalg_lu", "linalg_lstsq", "linalg_pinv", "linalg_matrix_exp"),
        ),
        _decomposition,
    ),
    **dict.fromkeys(("_fft_r2c", "_fft_c2r", "_fft_c2c"), _transform),
    "convolution": _convolution,
    "convolution_overrideable": _convolution,
    "_convolution": _convolution,
    "cudnn_convolution": _convolution,
    "mkldnn_convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_efficient_attention": _attention,
    "_scaled_dot_product_cudnn_attention": _attention,
    "_scaled_dot_product_flash_attention_backward": _attention_backward,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "_scaled_dot_product_efficient_attention_backward": _attention_backward,
    "_scaled_dot_product_cudnn_attention_backward": _attention_backward,
}


class _Operator(NamedTuple):
    """What an overload costs: nothing, its own formula, or its elements."""

    name: str
    free: bool
    cost: _Cost | None
    is_layer: bool
    is_copy: bool
    is_composite: bool


_operators: dict[Any, _Operator] = {}


def _operator(func: Any) -> _Operator:
    name = func._schema.name.rpartition("::")[2]
    cost = _COSTS.get(name)
    free = name in _MOVES or func.is_view or name.startswith(("sym_", "_nested_", "prim"))
    is_layer = cost is not None or name in _LAYERS
    return _operators.setdefault(func, _Operator(name, free, cost, is_layer, name in _COPIES, is_composite(func)))


def is_composite(func: Any) -> bool:
    """Whether an overload consists of calls of other operators, which are counted instead of it.

    Such operators are seen only below autograd, as under ``inference_mode``.  Nested tensors have kernels of their own
    for some of them.
    """
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    try:
        return has_kernel(func.name(), "CompositeImplicitAutograd") and not has_kernel(func.name(), "CPU")
    except RuntimeError:  # an operator without a C++ registration
        return False


def _elements(args: Any, result: Any) -> int:
    """Return the larger of the first operand's and the first result's number of elements, of all in a list."""
    most = 0
    for value in (args[0] if args else None, result):
        if isinstance(value, Tensor):
            most = max(most, value.numel())
        elif value.__class__ in (list, tuple):
            most = max(most, sum(item.numel() for item in value if isinstance(item, Tensor)))
    return most


def mark_trained(values: Any) -> None:
    """Mark the storages of parameters, of gradients, or of what is computed from them one element at a time.

    Args:
        values: a tensor, a list of tensors, or anything else, which has no storage.

    """
    with torch._C.DisableTorchFunction():
        for tensor in values if values.__class__ in (list, tuple) else (values,):
            if isinstance(tensor, Tensor):
                with suppress(NotImplementedError, RuntimeError):  # no storage
                    tensor.untyped_storage()._is_trained = True  # type: ignore[attr-defined]  # our attribute


def is_trainable(tensor: Tensor) -> bool:
    """Whether a tensor is a parameter, or a leaf that gets a gradient."""
    return isinstance(tensor, Parameter) or (tensor.requires_grad and tensor.is_leaf)


def _trained(args: Any) -> Tensor | None:
    """Return the first argument that is a parameter, or marked by :func:`mark_trained`; of lists, the first element."""
    with torch._C.DisableTorchFunction():
        for value in args:
            first = _first(value)
            if isinstance(first, Tensor):
                with suppress(NotImplementedError, RuntimeError):  # no storage
                    if is_trainable(first) or getattr(first.untyped_storage(), "_is_trained", False):
                        return first
    return None


def _first(value: Any) -> Any:
    return value[0] if value.__class__ in (list, tuple) and value else value


def _requires_gradient(args: Any) -> bool:
    for value in args:
        if isinstance(value, Tensor):
            if value.requires_grad:
                return True
        elif value.__class__ in (list, tuple) and any(
            isinstance(each, Tensor) and each.requires_grad for each in value
        ):
            return True
    return False


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif value.__class__ in (list, tuple):
        for each in value:
            yield from _tensors(each)


def _computes_floats(args: Any, result: Any) -> bool:
    with torch._C.DisableTorchFunction():
        return any(map(_is_float, _tensors(args))) or any(map(_is_float, _tensors(result)))


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or (
        isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()) and not value.is_meta
    )


class Choices:
    """Integers and truth values that a run computes from floating-point numbers: classes, tokens, comparisons.

    A changed number need not change the choice, so the numbers are recorded.

    Attributes:
        count: number of calls.

    """

    _MAX_CALLS = 4096
    _MAX_ELEMENTS = 256

    def __init__(self) -> None:
        self.count = 0
        self._numbers = hashlib.sha256()

    def add(self, args: Any, result: Any) -> None:
        """Add a call if it is a choice."""
        with torch._C.DisableTorchFunction():
            if all(map(_is_float, _tensors(result))):
                return
            numbers = [value for value in args if _is_float(value)]
        if not any(isinstance(value, Tensor) for value in numbers):
            return
        self.count += 1
        if self.count <= self._MAX_CALLS:
            for value in numbers:
                self._numbers.update(self._sample(value) if isinstance(value, Tensor) else repr(value).encode())

    def _sample(self, tensor: Tensor) -> bytes:
        """Return evenly spaced elements of a tensor as bytes."""
        with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
            try:
                flat = tensor.detach().reshape(-1)
                flat = flat[:: max(1, -(-flat.numel() // self._MAX_ELEMENTS))].resolve_conj().resolve_neg().contiguous()
                on_host = flat.device.type == "cpu" and flat.data_ptr()  # without NumPy: there may be none
                return string_at(flat.data_ptr(), flat.nbytes) if on_host else b""
            except (RuntimeError, TypeError, NotImplementedError):  # a sparse or nested tensor, or one without numbers
                return b""

    @property
    def digest(self) -> str:
        """Digest of the numbers."""
        return self._numbers.hexdigest()[:16]


class WorkLedger:
    """Work of a run so far.

    Attributes:
        device_operations, all_operations: ATen calls on an accelerator, and in total, except those on 0-dim tensors
            only, such as an optimizer's step counter.
        work: for each of :data:`PHASES`, the work on accelerators and on the CPU.
        backward: for each operator of the backward passes, its calls on accelerators and on the CPU.
        updates: for each operator of the updates, likewise.
        evaluations: for each operator that computes floating-point numbers without gradients in a call of a model,
            likewise.
        others: for each other operator that computes floating-point numbers, likewise; without calls in chains whose
            device is undecided.
        decided_work: the work of the calls in ``others``, on accelerators and on the CPU.
        is_in_model: a module with parameters is being called.
        host_reads: arrays and lists that a call of a model made of floating-point tensors.
        host_returns: floating-point tensors that a call of a model moved from the CPU to an accelerator.
        chains: calls that may be meant to run on the CPU; None if devices are checked.
        gradients_from_cpu: gradients, except those of single numbers, that were copied from the CPU to an
            accelerator: a differentiable computation ran on the CPU.
        choices: choices outside of the training; None on a real device, where recording them would take time.

    """

    def __init__(self, chains: HostChains | None = None, choices: Choices | None = None) -> None:
        self.chains = chains
        self.choices = choices
        self.device_operations = 0
        self.all_operations = 0
        self.work: dict[str, list[int]] = {phase: [0, 0] for phase in PHASES}
        self.backward: dict[str, list[int]] = {}
        self.updates: dict[str, list[int]] = {}
        self.evaluations: dict[str, list[int]] = {}
        self.others: dict[str, list[int]] = {}
        self.decided_work = [0, 0]
        self.is_in_model = False
        self.host_reads = 0
        self.host_returns = 0
        self.gradients_from_cpu = 0

    def decomposes(self, func: Any) -> bool:
        """Whether the inner calls of an overload are to be added instead of it (:func:`is_composite`)."""
        return (_operators.get(func) or _operator(func)).is_composite

    def add(
        self,
        func: Any,
        args: Any,
        result: Any,
        on_device: bool,
        mixed: tuple[bool, ...] = (),
        is_undecided: bool = False,
        is_mostly_on_device: bool = False,
    ) -> None:
        """Add a call.

        Args:
            func: the ATen overload.
            args: its positional arguments.
            result: its result.
            on_device: at least one of its tensors was on an accelerator.
            mixed: if its tensors were on several devices, whether each of its parameters is meant to be on an
                accelerator; a layer that the program itself sends to the CPU computes there.
            is_undecided: its tensors, other than single numbers, are on several devices.
            is_mostly_on_device: most elements of these tensors are on accelerators.

        """
        if self.choices is not None and not torch.is_grad_enabled():
            self.choices.add(args, result)
        first = args[0] if args else None
        if isinstance(first, Tensor) and first.dim() == 0 and not (isinstance(result, Tensor) and result.dim()):
            return
        self.all_operations += 1
        self.device_operations += on_device
        is_chained = on_device and self.chains is not None and self.chains.add(args, result, is_undecided)
        operator = _operators.get(func) or _operator(func)
        if operator.free:
            if operator.is_copy and _trained(args) is not None:
                mark_trained(result)
            return
        try:
            weight = operator.cost(args, result) if operator.cost else _elements(args, result)
        except (AttributeError, IndexError, RuntimeError):  # tensors without a shape, such as nested ones
            weight = 1
        column = 0 if on_device and (not mixed or any(mixed)) else 1
        if torch._C._current_graph_task_id() != -1:
            self.work["backward"][column] += weight
            self.backward.setdefault(operator.name, [0, 0])[column] += 1
            return
        phase = self._phase(operator, args, result)
        self.work[phase][column] += weight
        if phase == "update":
            self.updates.setdefault(operator.name, [0, 0])[column] += 1
        elif phase in ("evaluation", "other") and _computes_floats(args, result):
            if self.is_in_model:
                if not is_undecided or is_mostly_on_device:
                    self.evaluations.setdefault(operator.name, [0, 0])[column] += 1
                    if is_chained and self.chains is not None:
                        self.chains.add_evaluation(operator.name, result)
            elif not is_chained or (is_undecided and is_mostly_on_device):
                self.others.setdefault(operator.name, [0, 0])[column] += 1
                self.decided_work[column] += weight

    def read_on_host(self, tensor: Tensor) -> None:
        """Add an array or list that the program makes of a tensor."""
        self.host_reads += self.is_in_model and _is_float(tensor) and tensor.dim() > 0

    def return_to_device(self, tensor: Tensor) -> None:
        """Add a move of a tensor from the CPU to an accelerator."""
        self.host_returns += self.is_in_model and _is_float(tensor) and tensor.dim() > 0

    def _phase(self, operator: _Operator, args: Any, result: Any) -> str:
        if torch.is_grad_enabled() and _requires_gradient(args):
            return "forward"
        if operator.is_layer:
            return "evaluation"
        trained = _trained(args)
        if trained is None:
            is_model = self.is_in_model and not torch.is_grad_enabled() and _computes_floats(args, result)
            return "evaluation" if is_model else "other"
        first = _first(result)
        if isinstance(first, Tensor) and first.numel() == trained.numel():
            mark_trained(result)
        return "update"

    def report_fields(self) -> dict[str, Any]:
        """Return the fields of a run's report as JSON values."""
        return {
            "device_operations": self.device_operations,
            "all_operations": self.all_operations,
            "work": self.work,
            "backward": self.backward,
            "updates": self.updates,
            "evaluations": self._meant_evaluations(),
            "others": self.others,
            "decided_work": self.decided_work,
            "host_reads": self.host_reads,
            "host_returns": self.host_returns,
            "gradients_from_cpu": self.gradients_from_cpu,
            "choices": [0, ""] if self.choices is None else [self.choices.count, self.choices.digest],
            "host_operations": 0 if self.chains is None else self.chains.host_calls,
        }

    def _meant_evaluations(self) -> dict[str, list[int]]:
        """Return ``evaluations`` with the calls whose results the program uses on the CPU in the CPU's column."""
        host = Counter() if self.chains is None else self.chains.host_evaluations
        return {name: [on - host[name], off + host[name]] for name, (on, off) in self.evaluations.items()}
