"""Phases of a run: calls of modules in training and in evaluation, with and without gradients, and their samples."""

from __future__ import annotations

import hashlib
import json
import threading
import weakref
from typing import Any

from .parameters import digest, untracked
from .plain import memory, plain_tensors

__all__ = ["Phases"]

_MAX_ENTRIES = 4096
_MAX_MODULES = 8
_MAX_ELEMENTS = 256


class Phases:
    """Outermost calls of modules with parameters, in order.

    Consecutive calls in the same mode are one entry ``[training, gradients, calls, samples, results]``.  ``training``
    is null for modules that compute the same in both modes.  The number of samples of a call is the first dimension of
    its first tensor.  ``results`` is a digest of what calls without gradients return.

    Args:
        keep_modules: keep the last modules alive, to record their final state; on a real device this could exhaust its
            memory.

    Attributes:
        ledger: the run's work (``devfix.simulator.work.WorkLedger``), which counts calls of models apart; None if it is
            not recorded.

    """

    def __init__(self, keep_modules: bool) -> None:
        self._entries: list[list[Any]] = []
        self._overflow_digest: Any = None
        self.ledger: Any = None
        self._is_inside = False
        self._thread = threading.get_ident()
        self._keep_modules = keep_modules
        self._modules: dict[int, Any] = {}
        self._dependence: Any = weakref.WeakKeyDictionary()

    def install(self) -> None:
        """Hook the calls of modules."""
        import torch

        library: Any = torch.nn.Module
        phases, real, ident, get_ident = self, library.__call__, self._thread, threading.get_ident

        # The profiler reads ``self`` of each call (torch/csrc/autograd/profiler_python.cpp): it must be the module.
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if phases._is_inside or get_ident() != ident:
                return real(self, *args, **kwargs)
            is_model = any(True for _ in library.parameters(self))
            results = phases._note_call(self, args, kwargs) if is_model else None
            phases._set_inside(True, is_model)
            try:
                result = real(self, *args, **kwargs)
            finally:
                phases._set_inside(False, False)
            if results is not None:
                results.update(_sample(result))
            return result

        library.__call__ = call

    def _set_inside(self, is_inside: bool, is_model: bool) -> None:
        self._is_inside = is_inside
        if self.ledger is not None:
            self.ledger.is_in_model = is_model

    def _note_call(self, module: Any, args: Any, kwargs: Any) -> Any:
        """Record a call; return the digest to which its result is to be added, or None."""
        import torch

        if torch.compiler.is_compiling():
            return None
        training = bool(module.training) if self._depends_on_mode(module) else None
        mode = [training, torch.is_grad_enabled()]
        samples = _samples((args, kwargs))
        if self._entries and self._overflow_digest is None and self._entries[-1][:2] == mode:
            self._entries[-1][2] += 1
            self._entries[-1][3] += samples
        elif len(self._entries) < _MAX_ENTRIES:
            self._entries.append([*mode, 1, samples, hashlib.sha256()])
        else:
            self._overflow_digest = self._overflow_digest or hashlib.sha256()
            self._overflow_digest.update(json.dumps([*mode, samples]).encode())
        if self._keep_modules:
            self._modules.pop(id(module), None)
            self._modules[id(module)] = module
            if len(self._modules) > _MAX_MODULES:
                del self._modules[next(iter(self._modules))]
        return None if mode[1] else self._entries[-1][-1]

    def _depends_on_mode(self, module: Any) -> bool:
        if module not in self._dependence:
            self._dependence[module] = any(map(_reads_training, module.modules()))
        return bool(self._dependence[module])

    def results(self, optimized: list[Any]) -> dict[str, Any]:
        """Return the phases, and digests of the tensors of each module's final state, as JSON values.

        Args:
            optimized: the optimizers' parameters, which are recorded elsewhere.

        """
        import torch

        library = torch.nn.Module  # a class of the program may have methods of these names that mean something else
        known = {id(each) for each in optimized}
        states = []
        for module in self._modules.values():
            tensors = [*library.parameters(module), *library.buffers(module)]
            states.append([digest([each])[:16] for each in tensors if id(each) not in known and not each.is_meta])
        return {
            "phases": [[*entry, "" if entry[1] else results.hexdigest()[:16]] for *entry, results in self._entries],
            "rest_of_phases": self._overflow_digest and self._overflow_digest.hexdigest(),
            "module_states": states,
        }


def _reads_training(module: Any) -> bool:
    """Whether a module's own code reads ``training``, and its dropout, if it has one, is not zero."""
    code = getattr(type(module).forward, "__code__", None)
    rate = getattr(module, "p", getattr(module, "dropout", None))
    return (code is None or "training" in code.co_names) and not (isinstance(rate, (int, float)) and rate == 0)


def _samples(value: Any, depth: int = 3) -> int:
    """Return the first dimension of the first tensor in a value; 1 if there is none."""
    import torch

    found = _first_tensor(value, depth)
    if found is None:
        return 1
    with torch._C.DisableTorchFunction():
        try:
            return int(found.shape[0]) if found.dim() else 1
        except (RuntimeError, TypeError, NotImplementedError):  # a nested tensor, or a symbolic size
            return 1


def _sample(result: Any) -> bytes:
    """Return evenly spaced elements of the first tensor of a result as bytes."""
    found = _first_tensor(result, 3)
    if found is None:
        return b""
    with untracked():
        try:
            plain = next(plain_tensors(found), None)
            if plain is None:
                return b""
            flat = plain.detach().reshape(-1)
            flat = flat[:: max(1, -(-flat.numel() // _MAX_ELEMENTS))].cpu()
            return memory(flat.resolve_conj().resolve_neg().contiguous())
        except (RuntimeError, TypeError, NotImplementedError):  # a sparse tensor
            return b""


def _first_tensor(value: Any, depth: int) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return value
    if depth and isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            found = _first_tensor(each, depth - 1)
            if found is not None:
                return found
    return None
