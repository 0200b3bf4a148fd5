"""The modes and patches that watch a run."""

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

from .frames import Chain, Frames
from .histories import Histories, tensors_in

__all__ = ["Failed", "ModuleEvent", "Provenance"]

_Tensor: Any = Tensor
_TRANSFERS: dict[Any, str] = {
    getattr(_Tensor, name): name
    for name in ("to", "cuda", "cpu", "xpu", "mps", "type", "type_as", "pin_memory", "half", "float")
    if hasattr(_Tensor, name)
}
_WRAPPING = (torch.as_tensor, torch.asarray, torch.frombuffer)  # of memory that is there: no operator runs


class Failed(NamedTuple):
    """A call that raised.

    ``operation`` is the operator or function, ``name`` its name for people.
    """

    error: BaseException
    operation: Any
    name: str
    args: Any
    kwargs: Any


@dataclass(frozen=True)
class ModuleEvent:
    """A module was moved (``device`` is where to), or became a part of another one (``parent`` is its type)."""

    index: int
    kind: str
    device: str
    parent: str
    chain: Chain


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch gives it no types
    """Sees every ATen call: notes births, and the operands of the one that fails."""

    def __init__(self, watch: Provenance) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch gives it no types
        self._watch = watch

    @classmethod
    def _should_skip_dynamo(cls) -> bool:  # else the first call imports torch._dynamo
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Without the function modes: to them an operator that is called from here is a call of the program's.
        with torch._C.DisableTorchFunction():
            try:
                result = func(*args, **kwargs) if kwargs else func(*args)
            except Exception as error:
                self._watch.note_failure(error, func, func._schema.name, args, kwargs)
                raise
            self._watch.histories.born(func, result, args, kwargs)
            return result


class _Functions(TorchFunctionMode):
    """Sees every call of the torch API: notes transfers, and the arguments of the call that fails."""

    def __init__(self, watch: Provenance) -> None:
        super().__init__()
        self._watch = watch

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        histories = self._watch.histories
        before = histories.count
        try:
            result = func(*args, **kwargs) if kwargs else func(*args)
        except Exception as error:
            self._watch.note_call(error, func, args, kwargs)
            raise
        if isinstance(result, Tensor):
            if func in _TRANSFERS and isinstance(args[0], Tensor):
                if result is not args[0]:
                    histories.moved(args[0], result, _TRANSFERS[func], self._watch.applying)
            elif histories.count != before:
                histories.settle(result, before)
            elif func in _WRAPPING:
                histories.arrived(result, f"torch.{func.__name__}")
            elif self._watch.by_function:
                histories.born(func, result, args, kwargs)
        elif self._watch.by_function and result.__class__ in (tuple, list):
            histories.born(func, result, args, kwargs)
        return result


class Provenance:
    """Watches from entry to exit; enter it inside of the device.

    On a machine without accelerator, where no two devices meet inside of an operator, births are noted by functions of
    the torch API: a dispatch mode that does nothing makes small operations take three times as long.

    Attributes:
        histories: what is known about memory.
        modules: what happened to each module, in order.
        failures: the last operator and the last call that raised.
        applying: whether a module is being moved.
        by_function: births are noted by functions of the torch API.

    """

    def __init__(self, frames: Frames, device_of: Callable[[Tensor], str], by_function: bool = False) -> None:
        self.histories = Histories(frames, device_of)
        self.frames = frames
        self.modules: weakref.WeakKeyDictionary[Any, list[ModuleEvent]] = weakref.WeakKeyDictionary()
        self.operator: Failed | None = None
        self.call: Failed | None = None
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
        self.patch(_BaseDataLoaderIter, "__next__", self._watch_next)
        self._modes = (_Functions(self),) if self.by_function else (_Functions(self), _Operators(self))
        for mode in self._modes:
            mode.__enter__()  # type: ignore[no-untyped-call]  # torch gives it no types
        self.patch(threading.Thread, "_bootstrap_inner", self._watch_thread)
        return self

    def __exit__(self, *problem: Any) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*problem)
        while self._undo:
            owner, name, value = self._undo.pop()
            setattr(owner, name, value)

    def note_failure(self, error: BaseException, func: Any, name: str, args: Any, kwargs: Any) -> None:
        """An operator raised."""
        self.operator = Failed(error, func, name, args, kwargs or {})

    def note_call(self, error: BaseException, func: Any, args: Any, kwargs: Any) -> None:
        """A function of the torch API raised."""
        if self.call is None or self.call.error is not error:  # the innermost one
            self.call = Failed(error, func, getattr(func, "__name__", str(func)), args, kwargs or {})

    def patch(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        """Replace a function by what ``wrap`` makes of it, until the watch ends."""
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
        event = ModuleEvent(self.histories.next(), "moved", self._home(module), "", self.histories.here(3))
        for each in module.modules():
            self._note(each, event)

    def _home(self, module: Any) -> str:
        for tensor in (*module.parameters(), *module.buffers()):
            return self.histories.device_of(tensor)
        return ""

    def _note(self, module: Any, event: ModuleEvent) -> None:
        try:
            self.modules.setdefault(module, []).append(event)
        except TypeError:  # a module of the user's that has no hash, or takes no weak reference
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
        event = ModuleEvent(self.histories.next(), "attached", "", type(module).__name__, self.histories.here(3))
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
            self.histories.arrived(result, "torch.from_numpy")
            return result

        return from_numpy

    def _watch_next(self, real: Any) -> Any:
        def __next__(loader: Any) -> Any:  # noqa: N807 - the name that a traceback shows
            batch = real(loader)
            for tensor in tensors_in([batch]):  # those of a worker process have no history here
                self.histories.arrived(tensor, "DataLoader", loader=True)
            return batch

        return __next__

    def _watch_thread(self, real: Any) -> Any:
        def _bootstrap_inner(thread: Any) -> None:
            with ExitStack() as modes:
                for mode in self._modes:
                    modes.enter_context(mode)
                real(thread)

        return _bootstrap_inner
