"""Modes and patches that record the provenance of a run."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data.dataloader import _BaseDataLoaderIter

from ..devices import run_higher_order
from .frames import Chain, Frames
from .histories import Histories, tensors_in

__all__ = ["Failed", "ModuleEvent", "Provenance"]

_Tensor: Any = Tensor
_TRANSFERS: dict[Any, str] = {
    getattr(_Tensor, name): name
    for name in ("to", "cuda", "cpu", "xpu", "mps", "type", "type_as", "pin_memory", "half", "float")
    if hasattr(_Tensor, name)
}
_WRAPPING = (torch.as_tensor, torch.asarray, torch.frombuffer)  # wrap existing memory without an operator


class Failed(NamedTuple):
    """A call that raised: ``operation`` is the operator or function, and ``name`` its display name."""

    error: BaseException
    operation: Any
    name: str
    args: Any
    kwargs: Any


@dataclass(frozen=True)
class ModuleEvent:
    """A module was moved to ``device``, or registered as a submodule of a module of type ``parent``."""

    index: int
    kind: str
    device: str
    parent: str
    chain: Chain


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]  # untyped in torch
    """Mode that records the origins of ATen results, and the operands of a failing call."""

    supports_higher_order_operators = True

    def __init__(self, provenance: Provenance) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # untyped in torch
        self._provenance = provenance

    @classmethod
    def _should_skip_dynamo(cls) -> bool:  # else the first call imports torch._dynamo
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not isinstance(func, torch._ops.OpOverload):
            return run_higher_order(self, func, args, kwargs)
        # Disable function modes, which would treat operators called from here as calls of the program.
        with torch._C.DisableTorchFunction():
            try:
                result = func(*args, **kwargs) if kwargs else func(*args)
            except Exception as error:
                self._provenance.note_failure(error, func, func._schema.name, args, kwargs)
                raise
            self._provenance.histories.record_creation(func, result, args, kwargs)
            return result


class _Functions(TorchFunctionMode):
    """Mode that records transfers by the torch API, and the arguments of a failing call."""

    def __init__(self, provenance: Provenance) -> None:
        super().__init__()
        self._provenance = provenance

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        histories = self._provenance.histories
        before = histories.count
        try:
            result = func(*args, **kwargs) if kwargs else func(*args)
        except Exception as error:
            self._provenance.note_call(error, func, args, kwargs)
            raise
        if isinstance(result, Tensor):
            if func in _TRANSFERS and isinstance(args[0], Tensor):
                if result is not args[0]:
                    histories.record_transfer(args[0], result, _TRANSFERS[func], self._provenance.applying)
            elif histories.count != before:
                histories.correct_device(result, before)
            elif func in _WRAPPING:
                histories.record_external(result, f"torch.{func.__name__}")
            elif self._provenance.by_function:
                histories.record_creation(func, result, args, kwargs)
        elif self._provenance.by_function and result.__class__ in (tuple, list):
            histories.record_creation(func, result, args, kwargs)
        return result


class Provenance:
    """Recorder of provenance from entry to exit; enter it after the device.

    On a machine without an accelerator, operators cannot have operands on two devices.  Origins are then recorded by
    functions of the torch API, because even an empty dispatch mode triples the time of small operations.

    Attributes:
        histories: the histories of storages.
        generators: where each random number generator of the program was created.
        default_device: the argument of the last ``torch.set_default_device``, the number of the event, and the call;
            None before it.
        modules: the events of each module, in order.
        operator, call: the last operator and the last torch function that raised.
        on_failed_call: called with the exception of each torch function that raised.
        applying: whether a module is being moved.
        by_function: record origins by functions of the torch API.

    """

    def __init__(self, frames: Frames, device_of: Callable[[Tensor], str], by_function: bool = False) -> None:
        self.histories = Histories(frames, device_of)
        self.frames = frames
        self.generators: weakref.WeakKeyDictionary[Any, Chain] = weakref.WeakKeyDictionary()
        self.default_device: tuple[str, int, Chain] | None = None
        self.modules: weakref.WeakKeyDictionary[Any, list[ModuleEvent]] = weakref.WeakKeyDictionary()
        self.operator: Failed | None = None
        self.call: Failed | None = None
        self.on_failed_call: Callable[[BaseException], None] = lambda error: None
        self.applying = False
        self.by_function = by_function
        self._undo: list[tuple[Any, str, Any]] = []
        self._modes: tuple[Any, ...] = ()

    def __enter__(self) -> Provenance:
        module: Any = torch.nn.Module
        self.patch(module, "_apply", self._watch_apply)
        self.patch(module, "__setattr__", self._watch_setattr)
        self.patch(module, "add_module", self._watch_add)
        self.patch(torch, "load", self._watch_load)
        self.patch(torch, "from_numpy", self._watch_from_numpy)
        self.patch(torch, "set_default_device", self._watch_default_device)
        if torch.Generator is not torch._C.Generator:  # the simulator's can be patched
            self.patch(torch.Generator, "__init__", self._watch_generator)
        self.patch(_BaseDataLoaderIter, "__next__", self._watch_next)
        self._modes = (_Functions(self),) if self.by_function else (_Functions(self), _Operators(self))
        for mode in self._modes:
            mode.__enter__()  # type: ignore[no-untyped-call]  # untyped in torch
        self.patch(threading.Thread, "_bootstrap_inner", self._watch_thread)
        return self

    def __exit__(self, *problem: Any) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*problem)
        while self._undo:
            owner, name, value = self._undo.pop()
            setattr(owner, name, value)

    def note_failure(self, error: BaseException, func: Any, name: str, args: Any, kwargs: Any) -> None:
        """Record an operator that raised."""
        self.operator = Failed(error, func, name, args, kwargs or {})

    def note_call(self, error: BaseException, func: Any, args: Any, kwargs: Any) -> None:
        """Record a function of the torch API that raised."""
        if self.call is None or self.call.error is not error:  # the innermost one
            self.call = Failed(error, func, getattr(func, "__name__", str(func)), args, kwargs or {})
            self.on_failed_call(error)

    def patch(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        """Replace a function by the result of ``wrap`` until exit."""
        real = getattr(owner, name)
        self._undo.append((owner, name, real))
        wrapper = wrap(real)
        wrapper.__name__, wrapper.__qualname__ = real.__name__, real.__qualname__
        wrapper.__doc__, wrapper.__module__ = real.__doc__, real.__module__
        wrapper.__wrapped__ = real
        setattr(owner, name, wrapper)

    def _watch_apply(self, real: Any) -> Any:
        def _apply(module: Any, *args: Any, **kwargs: Any) -> Any:
            if self.applying:
                return real(module, *args, **kwargs)
            self.applying = True
            try:
                result = real(module, *args, **kwargs)
            finally:
                self.applying = False
            self._note_move(module)
            return result

        return _apply

    def _note_move(self, module: Any) -> None:
        event = ModuleEvent(
            self.histories.next_index(), "moved", self._module_device(module), "", self.histories.calling_chain(3)
        )
        for each in module.modules():
            self._note(each, event)

    def _module_device(self, module: Any) -> str:
        for tensor in (*torch.nn.Module.parameters(module), *torch.nn.Module.buffers(module)):
            return self.histories.device_of(tensor)
        return ""

    def _note(self, module: Any, event: ModuleEvent) -> None:
        try:
            self.modules.setdefault(module, []).append(event)
        except TypeError:  # a user module that is not hashable or does not support weak references
            return

    def _watch_setattr(self, real: Any) -> Any:
        def set_attribute(module: Any, name: str, value: Any) -> None:
            real(module, name, value)
            if isinstance(value, torch.nn.Module):
                self._note_part(module, value)

        return set_attribute

    def _watch_add(self, real: Any) -> Any:
        def add_module(module: Any, name: str, part: Any) -> None:
            real(module, name, part)
            if isinstance(part, torch.nn.Module):
                self._note_part(module, part)

        return add_module

    def _note_part(self, module: Any, part: Any) -> None:
        event = ModuleEvent(
            self.histories.next_index(), "attached", "", type(module).__name__, self.histories.calling_chain(3)
        )
        self._note(part, event)

    def _watch_load(self, real: Any) -> Any:
        def load(*args: Any, **kwargs: Any) -> Any:
            before, self.histories.loading = self.histories.loading, "torch.load"
            try:
                return real(*args, **kwargs)
            finally:
                self.histories.loading = before

        return load

    def _watch_from_numpy(self, real: Any) -> Any:
        def from_numpy(*args: Any, **kwargs: Any) -> Any:
            result = real(*args, **kwargs)
            self.histories.record_external(result, "torch.from_numpy")
            return result

        return from_numpy

    def _watch_default_device(self, real: Any) -> Any:
        def set_default_device(device: Any) -> None:
            real(device)
            index, chain = self.histories.next_index(), self.histories.calling_chain()
            self.default_device = None if device is None else (str(device), index, chain)

        return set_default_device

    def _watch_generator(self, real: Any) -> Any:
        def __init__(generator: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - the name of the real one
            real(generator, *args, **kwargs)
            self.generators[generator] = self.histories.calling_chain()

        return __init__

    def _watch_next(self, real: Any) -> Any:
        def __next__(loader: Any) -> Any:  # noqa: N807 - the name that a traceback shows
            batch = real(loader)
            for tensor in tensors_in([batch]):  # tensors from worker processes have no history yet
                self.histories.record_external(tensor, "DataLoader", loader=True)
            return batch

        return __next__

    def _watch_thread(self, real: Any) -> Any:
        def _bootstrap_inner(thread: Any) -> None:
            with ExitStack() as modes:
                for mode in self._modes:
                    modes.enter_context(mode)
                real(thread)

        return _bootstrap_inner
