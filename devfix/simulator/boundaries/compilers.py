"""Compilers run eagerly: ``torch.compile``, TorchScript and ``torch.export`` return callables that look compiled.

Compiled code would bypass the function mode, and its constants would name the CPU.  Files are written by PyTorch's own
compiler; a file that the same process wrote is loaded as the eager module that it was made of.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map

from ..patches import Patches
from ..state import state

__all__ = ["patch_compilers", "run_compilers_eagerly"]

#: What this process wrote, by the digest of the file.
_written: dict[str, Any] = {}


@contextmanager
def _suspended() -> Iterator[None]:
    """Show PyTorch's compilers the CPU tensors as they are."""
    jit: Any = torch.jit
    enabled, module = jit._state._enabled.enabled, jit.ScriptModule
    jit._state.enable()
    jit.ScriptModule = _real["ScriptModule"]
    try:
        with _disable_current_modes(), torch._C.DisableTorchFunction(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        jit.ScriptModule = module
        if not enabled:
            jit._state.disable()


def _compile(model: Any = None, **_: Any) -> Any:
    """Replace ``torch.compile``: the same call, without a compiler."""
    if model is None:
        return _compile
    if isinstance(model, nn.Module):
        return _optimized_module()(model, None)
    if isinstance(model, type):
        return model

    @functools.wraps(model)
    def run(*args: Any, **kwargs: Any) -> Any:
        return model(*args, **kwargs)

    run._torchdynamo_orig_callable = model  # type: ignore[attr-defined]  # as torch.compile does
    return run


@functools.lru_cache(maxsize=1)
def _optimized_module() -> type[Any]:
    from torch._dynamo.eval_frame import OptimizedModule

    class EagerModule(OptimizedModule):
        """An ``OptimizedModule`` that calls its module."""

        def _initialize(self) -> None:
            self.forward = self._orig_mod.__call__

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return self._orig_mod(*args, **kwargs)

    EagerModule.__name__ = EagerModule.__qualname__ = "OptimizedModule"
    return EagerModule


class _Scripted:
    """What a scripted or traced callable has beyond the original: its code, and its file."""

    _compiled_by: Any

    @property
    def _compiled(self) -> Any:
        with _suspended():
            return self._compiled_by()

    @property
    def graph(self) -> Any:
        """The graph of PyTorch's own compiler."""
        return self._compiled.graph

    @property
    def inlined_graph(self) -> Any:
        """The graph with all calls inlined."""
        return self._compiled.inlined_graph

    @property
    def code(self) -> str:
        """The code as TorchScript."""
        return str(self._compiled.code)

    @property
    def original_name(self) -> str:
        """Name of the class that was compiled."""
        return str(type(self).__mro__[2].__name__)

    def save(self, f: Any, **_: Any) -> None:
        """Write a TorchScript file."""
        _save(self, f)

    def _save_for_lite_interpreter(self, f: Any, **_: Any) -> None:
        _save(self, f)


class _ScriptModule(nn.Module):
    """Base class of modules whose methods are scripted: an ordinary module, as if ``PYTORCH_JIT`` was 0."""

    def __init__(self, optimize: Any = None) -> None:
        super().__init__()


class _ScriptedFunction(_Scripted):
    """A scripted or traced function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def _wrapped(source: Any, compile_it: Callable[[], Any]) -> Any:
    """Return a scripted stand-in of a module or function; a module shares weights and submodules."""
    if isinstance(source, _Scripted):
        return source
    made: Any
    if isinstance(source, nn.Module):
        kind: Any = type("RecursiveScriptModule", (_Scripted, type(source)), {"__module__": "torch.jit._script"})
        made = object.__new__(kind)
        made.__dict__.update(source.__dict__)
    else:
        made = _ScriptedFunction(source)
    object.__setattr__(made, "_compiled_by", compile_it)
    return made


def _script(obj: Any, *_: Any, **__: Any) -> Any:
    if isinstance(obj, type) or not callable(obj):
        return obj
    if isinstance(obj, FunctionType) and obj.__module__.startswith("torch."):  # decompositions, imported on first use
        with _suspended():
            return _real["script"](obj)
    return _wrapped(obj, lambda: _real["script"](obj))


def _script_method(fn: Any) -> Any:
    return fn


def _trace(func: Any = None, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    given = example_inputs if example_inputs is not None else kwargs.get("example_kwarg_inputs")
    positional = given if isinstance(given, (tuple, list)) else () if isinstance(given, dict) else (given,)
    with torch.no_grad():
        func(*positional, **(given if isinstance(given, dict) else {}))
    kept = tree_map(lambda value: value.detach().clone() if isinstance(value, Tensor) else value, example_inputs)
    return _wrapped(func, lambda: _real["trace"](func, kept, check_trace=False))


def _frozen(module: Any, *_: Any, **__: Any) -> Any:
    return module


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _content(f: Any) -> bytes:
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as source:
            return source.read()
    position = f.tell()
    content: bytes = f.read()
    f.seek(position)
    return content


def _save(module: Any, f: Any, *_: Any, **__: Any) -> None:
    """Replace ``torch.jit.save``."""
    if not isinstance(module, _Scripted):
        _real["jit.save"](module, f)
        return
    compiled = module._compiled
    with _suspended():
        buffer = compiled.save_to_buffer()
    _written[_digest(buffer)] = copy.deepcopy(module)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "wb") as target:
            target.write(buffer)
    else:
        f.write(buffer)


def _load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Replace ``torch.jit.load``."""
    known = None
    if not isinstance(f, (str, os.PathLike)) or os.path.exists(f):
        known = _written.get(_digest(_content(f)))
    if known is None:
        if state.active:
            state.note_unsupported("torch.jit.load")
        return _real["jit.load"](f, None if state.active else map_location, *args, **kwargs)
    loaded = copy.deepcopy(known)
    if map_location is not None and isinstance(loaded, nn.Module):
        loaded.to(map_location)
    return loaded


def _export(mod: Any, *args: Any, **kwargs: Any) -> Any:
    """Replace ``torch.export.export``: the program's graph is PyTorch's own, and its module is the original."""
    with _suspended():
        program = _real["export"](mod, *args, **kwargs)
    program._simulated_source = mod
    return program


def _module(program: Any, *args: Any, **kwargs: Any) -> Any:
    """Replace ``ExportedProgram.module``."""
    if not torch._C._is_torch_function_enabled():  # one of PyTorch's compilers asks
        return _real["module"](program, *args, **kwargs)
    source = program.__dict__.get("_simulated_source")
    if source is None:
        state.note_unsupported("torch.export")
        return _real["module"](program, *args, **kwargs)
    return copy.copy(source)


def _run_decompositions(program: Any, *args: Any, **kwargs: Any) -> Any:
    """Replace ``ExportedProgram.run_decompositions``: another graph of the same module."""
    with _suspended():
        decomposed = _real["run_decompositions"](program, *args, **kwargs)
    if "_simulated_source" in program.__dict__:
        decomposed._simulated_source = program._simulated_source
    return decomposed


def _save_program(program: Any, f: Any, *args: Any, **kwargs: Any) -> None:
    source = program.__dict__.get("_simulated_source")
    with _suspended():
        _real["export.save"](program, f, *args, **kwargs)
    if source is not None:
        if not isinstance(f, (str, os.PathLike)):
            f.seek(0)
        _written[_digest(_content(f))] = program, copy.deepcopy(source)


def _load_program(f: Any, *args: Any, **kwargs: Any) -> Any:
    known = _written.get(_digest(_content(f)))
    if known is None:
        return _real["export.load"](f, *args, **kwargs)
    program = copy.copy(known[0])
    program._simulated_source = copy.deepcopy(known[1])
    return program


class AOTModule(nn.Module):
    """What ``aot_module`` returns, with the same names of parameters; it calls its module."""

    def __init__(self, orig_module: nn.Module) -> None:
        super().__init__()
        self.orig_module = orig_module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.orig_module(*args, **kwargs)


def _aot_function(fn: Any, *_: Any, **__: Any) -> Any:
    """Replace ``functorch.compile.aot_function``, whose graph has no place for the simulated device."""
    return functools.wraps(fn)(lambda *args, **kwargs: fn(*args, **kwargs))


def _aot_module(mod: nn.Module, *_: Any, **__: Any) -> AOTModule:
    return AOTModule(mod)


#: The modules that have the ahead-of-time compilers; the last two import them from the first one.
_AHEAD_OF_TIME = ("torch._functorch.aot_autograd", "torch._functorch.compilers", "functorch.compile")


_real: dict[str, Callable[..., Any]] = {}


def _patch_compile(patches: Patches) -> None:
    if torch.compile.__module__ != "torch":  # already replaced
        return
    patches.set(torch, "compile", _compile)
    patches.set(nn.Module, "compile", lambda self, *_, **__: None)
    for name in ("cudagraph_mark_step_begin", "reset"):
        if hasattr(torch.compiler, name):
            patches.set(torch.compiler, name, lambda *_, **__: None)


def _patch_scripting(patches: Patches) -> None:
    if torch.jit.script is _script:
        return
    jit: Any = torch.jit
    _real.update({"script": jit.script, "trace": jit.trace, "jit.save": jit.save, "jit.load": jit.load})
    _real["ScriptModule"] = jit.ScriptModule
    replaced = {
        "script": _script,
        "script_method": _script_method,
        "ScriptModule": _ScriptModule,
        "trace": _trace,
        "freeze": _frozen,
        "optimize_for_inference": _frozen,
        "save": _save,
        "load": _load,
    }
    for name, value in replaced.items():
        patches.set(jit, name, value)


def _patch_ahead_of_time(patches: Patches) -> None:
    """Replace the ahead-of-time compilers where they are loaded: before programs fork (``preload``)."""
    replaced = {"aot_function": _aot_function, "aot_module": _aot_module}
    aliases = {"compiled_function": _aot_function, "compiled_module": _aot_module}
    for module in filter(None, map(sys.modules.get, _AHEAD_OF_TIME)):
        for name, value in (replaced | aliases).items():
            if vars(module).get(name, value) is not value:
                patches.set(module, name, value)


def run_compilers_eagerly() -> None:
    """Replace ``torch.compile`` and TorchScript for the rest of the process, on the CPU and on real devices."""
    patches = Patches()
    _patch_compile(patches)
    _patch_scripting(patches)
    _patch_ahead_of_time(patches)


def patch_compilers(patches: Patches) -> None:
    """Replace the compilers for the simulated device; what already runs eagerly is left alone."""
    _patch_compile(patches)
    _patch_scripting(patches)
    _patch_ahead_of_time(patches)
    import torch.export

    library: Any = torch.export
    if library.export is _export:  # already replaced
        return
    program: Any = library.ExportedProgram
    _real.update({"export": library.export, "export.save": library.save, "export.load": library.load})
    _real.update({"module": program.module, "run_decompositions": program.run_decompositions})
    patches.set(library, "export", _export)
    patches.set(library, "save", _save_program)
    patches.set(library, "load", _load_program)
    patches.set(program, "module", _module)
    patches.set(program, "run_decompositions", _run_decompositions)
    patches.on_undo(_written.clear)
