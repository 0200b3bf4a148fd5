"""A real accelerator made comparable with the CPU: deterministic kernels, and random numbers from the CPU.

Kernels with built-in dropout that the script selects explicitly, such as an attention backend with ``sdpa_kernel``,
are not comparable; ``CpuRandomMode.unmatched`` lists them.  Random numbers of extensions that bypass PyTorch are not
detected.  A device generator that is seeded again after use continues its stream instead of restarting it.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from .devices import run_higher_order

__all__ = ["CpuRandomMode", "make_deterministic"]

#: Kernels that draw random numbers internally, for dropout only.  :func:`make_deterministic` prevents PyTorch from
#: selecting them; a script can still call them.
_INTERNAL_RANDOMNESS = ("attention", "rnn", "lstm", "gru")

#: Operators that use only the shape, strides and dtype of their first argument.
_FILLS = {
    *("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_"),
    *("rand_like", "randn_like", "randint_like"),
}

#: ``OpOverload.decompose`` would prefer the decompositions in Python, which round differently.
_COMPOSITE_KEY = torch._C.DispatchKey.CompositeImplicitAutograd

_LOW = {torch.float16: "float16", torch.bfloat16: "bfloat16"}


def make_deterministic() -> None:
    """Disable TF32, benchmarking and fused dropout kernels, and select deterministic kernels if available.

    https://pytorch.org/docs/stable/notes/randomness.html
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
        torch.backends.cuda.enable_cudnn_sdp(False)
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        setattr(torch._VF, name, _without_cudnn(getattr(torch._VF, name)))


def _without_cudnn(layers: Any) -> Any:
    """Wrap recurrent layers to avoid cuDNN if they have dropout, because cuDNN draws random numbers internally."""

    def called(*args: Any) -> Any:
        # The probability is the only float: (input, hx, weights, bias, layers, dropout, train, ...), also when packed.
        if not any(isinstance(value, float) and value > 0 for value in args):
            return layers(*args)
        with torch.backends.cudnn.flags(enabled=False, deterministic=True, allow_tf32=False):
            return layers(*args)

    return called


class CpuRandomMode(TorchDispatchMode):
    """Mode that draws random numbers on the CPU and copies them, so that dropout and initialization match a CPU run.

    Args:
        kind: the device type whose random operators run on the CPU.
        ledger: adds up the work, as the simulator does (``devfix.simulator.work.WorkLedger``).

    Attributes:
        precision: the lowest precision of a result on the device.
        unmatched: kernels that drew random numbers internally.

    """

    supports_higher_order_operators = True

    def __init__(self, kind: str, ledger: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # untyped in torch
        self.kind = kind
        self.ledger = ledger
        self.precision = "float32"
        self.unmatched: list[str] = []
        self._generators: Any = weakref.WeakKeyDictionary()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not isinstance(func, torch._ops.OpOverload):
            return run_higher_order(self, func, args, kwargs)
        kwargs = kwargs or {}
        if self.ledger.decomposes(func) and not _has_nested((args, kwargs)):
            with self:
                return func._op_dk(_COMPOSITE_KEY, *args, **kwargs)
        device = self._device((args, kwargs))
        if device is not None and torch.Tag.nondeterministic_seeded in func.tags:
            result = self._draw(func, args, kwargs, device)
        else:
            result = func(*args, **kwargs)
        self.ledger.add(func, args, result, device is not None)
        self._note_precision(result, device)
        return result

    def _device(self, given: Any) -> torch.device | None:
        """Return the call's device if it has the right type: that of a tensor, or an argument."""
        for leaf in tree_flatten(given)[0]:
            device = leaf.device if isinstance(leaf, torch.Tensor) else leaf
            if isinstance(device, torch.device) and device.type == self.kind:
                return device
        return None

    def _note_precision(self, result: Any, device: torch.device | None) -> None:
        if device is None:
            return
        for leaf in tree_flatten(result)[0]:
            if isinstance(leaf, torch.Tensor) and leaf.dtype in _LOW:
                self.precision = _LOW[leaf.dtype]

    def _draw(self, func: Any, args: Any, kwargs: Any, device: torch.device) -> Any:
        name = func._schema.name.split("::")[1]
        if any(part in name for part in _INTERNAL_RANDOMNESS):
            if _dropout_probability(func, args, kwargs) > 0 and name not in self.unmatched:
                self.unmatched.append(name)
            return func(*args, **kwargs)
        if name == "native_dropout":
            return _cpu_dropout(*args, **kwargs)
        on_cpu = tree_map(self._on_cpu, (_without_unread_contents(name, args), kwargs))
        drawn = func(*on_cpu[0], **on_cpu[1])
        written = [at for at, argument in enumerate(func._schema.arguments) if _is_written(argument)]
        if written:
            target = _argument(func, args, kwargs, written[0])
            return target.copy_(drawn if isinstance(drawn, torch.Tensor) else drawn[0])
        return tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, drawn)

    def _on_cpu(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.cpu()
        if isinstance(leaf, torch.device):
            return torch.device("cpu")
        if isinstance(leaf, torch.Generator) and leaf.device.type != "cpu":
            if leaf not in self._generators:
                self._generators[leaf] = torch.Generator().manual_seed(leaf.initial_seed())
            return self._generators[leaf]
        return leaf


def _has_nested(given: Any) -> bool:
    return any(isinstance(leaf, torch.Tensor) and leaf.is_nested for leaf in tree_flatten(given)[0])


def _without_unread_contents(name: str, args: Any) -> Any:
    """Return the arguments with unread contents replaced by an empty CPU tensor, which saves the copy."""
    return (torch.empty_like(args[0], device="cpu"), *args[1:]) if name in _FILLS else args


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _argument(func: Any, args: Any, kwargs: Any, position: int) -> Any:
    return args[position] if position < len(args) else kwargs[func._schema.arguments[position].name]


def _dropout_probability(func: Any, args: Any, kwargs: Any) -> float:
    """Return the dropout probability of a kernel call."""
    for position, argument in enumerate(func._schema.arguments):
        if argument.name in ("dropout_p", "dropout") and (position < len(args) or argument.name in kwargs):
            return float(_argument(func, args, kwargs, position))
    return 0.0


def _cpu_dropout(source: Any, p: float, train: Any = True) -> tuple[Any, Any]:
    """Compute dropout as ``torch.dropout`` does on the CPU, with the noise copied; accelerators have another kernel.

    https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/Dropout.cpp
    """
    if train is False or p == 0 or source.numel() == 0:
        return source.clone(), torch.ones_like(source, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(source), torch.zeros_like(source, dtype=torch.bool)
    noise = torch.empty_like(source, device="cpu").bernoulli_(1 - p)
    mask = noise.to(device=source.device, dtype=torch.bool)
    return source * noise.div_(1 - p).to(source.device), mask
