"""Modules by the program's names, with their submodules and tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..provenance.histories import tensors_in
from .tensors import DeviceCounts, count_tensors, describe_tensor

__all__ = ["ModuleForest"]

_MODULE_TABLES = ("_parameters", "_buffers", "_modules")
_MAX_ATTRIBUTES = 200
_MAX_NODES = 4000  # beyond it, only modules whose tensors are on several devices are unfolded


class _UnregisteredUse(NamedTuple):
    """A module with an unregistered submodule; ``container`` is the type of the Python container, if any."""

    module: Any
    attribute: str
    container: str | None


class ModuleForest:
    """The trees of all modules of a program.

    Args:
        modules: all modules.
        names: the program's names of modules, by their ids.
        device_of: returns a tensor's device.

    """

    def __init__(self, modules: list[Any], names: dict[int, str], device_of: Callable[[Tensor], str]) -> None:
        self._modules = modules
        self._names = names
        self._device_of = device_of
        self._nodes = 0
        self._parents: dict[int, tuple[Any, str]] = {}
        self._unregistered_uses: dict[int, _UnregisteredUse] = {}
        for module in modules:
            for name, part in vars(module)["_modules"].items():
                if part is not None and part is not module:
                    self._parents.setdefault(id(part), (module, name))
            for use, part in _unregistered_modules(module):
                self._unregistered_uses.setdefault(id(part), use)

    def name(self, module: Any) -> str:
        """Return a name such as ``net.encoder[0]``; it starts with the class name if the root module has no name."""
        accessors: list[str] = []
        for _ in range(64):
            if id(module) in self._parents:
                module, accessor = self._parents[id(module)]
            elif id(module) in self._unregistered_uses:
                module, accessor = self._unregistered_uses[id(module)][:2]
            else:
                break
            accessors.append(_accessor(accessor))
        return "".join([self._names.get(id(module), type(module).__name__), *reversed(accessors)])

    def root(self, module: Any) -> Any:
        """Return the outermost module that contains this one."""
        for _ in range(64):
            if id(module) not in self._parents:
                break
            module = self._parents[id(module)][0]
        return module

    def parameter_names(self) -> dict[int, str]:
        """Return names of parameters and buffers by their ids."""
        return {
            id(tensor): f"{self.name(module)}.{name}"
            for module in self._modules
            for name, tensor, _ in _registered(module)
        }

    def tensors(self) -> Iterator[Tensor]:
        """Yield every parameter and buffer."""
        for module in self._modules:
            for _, tensor, _ in _registered(module):
                yield tensor

    def trees(self, trained: set[int]) -> list[dict[str, Any]]:
        """Return root modules as JSON; omit those without tensors, except loss functions.

        ``trained``: ids of the optimizers' parameters.
        """
        roots = [module for module in self._modules if id(module) not in self._parents]
        trees = [self._tree_of(each, trained) for each in roots if _is_loss(each) or _has_tensors(each)]
        return sorted(trees, key=lambda tree: (not tree["trained"], tree["criterion"], not tree["named"], tree["name"]))

    def _tree_of(self, module: Any, trained: set[int]) -> dict[str, Any]:
        use = self._unregistered_uses.get(id(module))
        return {
            **self._node(self.name(module), module),
            "named": id(module) in self._names,
            "criterion": _is_loss(module),
            "trained": any(id(tensor) in trained or tensor.grad is not None for tensor in _parameters(module)),
            "keeper": use
            and {
                "name": self.name(use.module),
                "attribute": use.attribute,
                "container": use.container,
                "places": self.count_by_device(self.root(use.module)),
            },
        }

    def count_by_device(self, module: Any) -> DeviceCounts:
        """Return the number and bytes of the tensors of a module and its submodules on each device."""
        return count_tensors(_all_tensors(module), self._device_of)

    def _node(self, name: str, module: Any) -> dict[str, Any]:
        device_counts = self.count_by_device(module)
        node: dict[str, Any] = {"name": name, "type": type(module).__name__, "places": device_counts}
        if len(device_counts) > 1 or self._nodes < _MAX_NODES:
            self._nodes += 1 + len(vars(module)["_parameters"]) + len(vars(module)["_buffers"])
            node["tensors"] = [
                {"name": key, "kind": kind, **describe_tensor(tensor, self._device_of)}
                for key, tensor, kind in _registered(module)
            ]
            parts = [(key, part) for key, part in vars(module)["_modules"].items() if part is not None]
            node["parts"] = [self._node(key, part) for key, part in parts if _has_tensors(part)]
        return node

    def attributes(self) -> list[tuple[Tensor, dict[str, Any]]]:
        """Return unregistered tensor attributes of modules, with the devices of the root module."""
        known = {id(tensor) for tensor in self.tensors()}
        found: list[tuple[Tensor, dict[str, Any]]] = []
        for module in self._modules:
            for name, value in vars(module).items():
                if name in _MODULE_TABLES or name.endswith("_hooks"):
                    continue
                for tensor in tensors_in([value]):
                    if id(tensor) in known or len(found) == _MAX_ATTRIBUTES:
                        continue
                    known.add(id(tensor))
                    root_devices = self.count_by_device(self.root(module))
                    about = {
                        "name": f"{self.name(module)}.{name}",
                        "type": type(module).__name__,
                        "places": root_devices,
                    }
                    found.append((tensor, {**about, **describe_tensor(tensor, self._device_of)}))
        return sorted(found, key=lambda pair: str(pair[1]["name"]))


def _accessor(name: str) -> str:
    """Return the accessor of a submodule: ``.head`` or ``[0]``."""
    return f"[{name}]" if name.isdigit() else f".{name}"


def _registered(module: Any) -> Iterator[tuple[str, Tensor, str]]:
    for kind, table in (("parameter", "_parameters"), ("buffer", "_buffers")):
        for name, tensor in vars(module).get(table, {}).items():
            if isinstance(tensor, Tensor):
                yield name, tensor, kind


def _all_tensors(module: Any) -> Iterator[Tensor]:
    """Yield parameters and buffers of a module and its submodules, each once, without calling user code."""
    seen: set[int] = set()
    pending = [module]
    while pending:
        part = pending.pop()
        if id(part) in seen or "_modules" not in vars(part):
            continue
        seen.add(id(part))
        for _, tensor, _ in _registered(part):
            if id(tensor) not in seen:
                seen.add(id(tensor))
                yield tensor
        pending.extend(each for each in vars(part)["_modules"].values() if each is not None)


def _has_tensors(module: Any) -> bool:
    return next(_all_tensors(module), None) is not None


def _parameters(module: Any) -> Iterator[Tensor]:
    return (tensor for tensor in _all_tensors(module) if isinstance(tensor, torch.nn.Parameter))


def _is_loss(module: Any) -> bool:
    return isinstance(module, torch.nn.modules.loss._Loss)


def _unregistered_modules(module: Any) -> Iterator[tuple[_UnregisteredUse, Any]]:
    """Yield modules in unregistered attributes of a module, or in lists, tuples and dictionaries there."""
    for name, value in vars(module).items():
        if name in _MODULE_TABLES:
            continue
        if isinstance(value, torch.nn.Module):
            yield _UnregisteredUse(module, name, None), value
        elif isinstance(value, (list, tuple, dict)):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, part in items:
                if isinstance(part, torch.nn.Module):
                    yield _UnregisteredUse(module, f"{name}[{key!r}]", type(value).__name__), part
