"""Modules by the names that the program gives them, their parts folded where all of it is in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..provenance.histories import tensors_in
from .tensors import Places, count, describe

__all__ = ["Forest"]

_OWN = ("_parameters", "_buffers", "_modules")
_MOST_ATTRIBUTES = 200


class _Keeper(NamedTuple):
    """A module that keeps another one without registering it; ``container`` is the type of what it is in, if any."""

    module: Any
    attribute: str
    container: str | None


class Forest:
    """All modules of a program.

    Args:
        modules: every one of them.
        names: what the program calls modules, by their identity.
        place_of: where a tensor is.

    """

    def __init__(self, modules: list[Any], names: dict[int, str], place_of: Callable[[Tensor], str]) -> None:
        self._modules = modules
        self._names = names
        self._place_of = place_of
        self._parents: dict[int, tuple[Any, str]] = {}
        self._keepers: dict[int, _Keeper] = {}
        for module in modules:
            for name, part in vars(module)["_modules"].items():
                if part is not None and part is not module:
                    self._parents.setdefault(id(part), (module, name))
            for keeper, part in _kept(module):
                self._keepers.setdefault(id(part), keeper)

    def name(self, module: Any) -> str:
        """``net.encoder[0]``, or the class name where the program has no name for what it is a part of."""
        steps: list[str] = []
        for _ in range(64):
            if id(module) in self._parents:
                module, step = self._parents[id(module)]
            elif id(module) in self._keepers:
                module, step = self._keepers[id(module)][:2]
            else:
                break
            steps.append(_step(step))
        return "".join([self._names.get(id(module), type(module).__name__), *reversed(steps)])

    def root(self, module: Any) -> Any:
        """The module that is a part of no other, which this one is a part of."""
        for _ in range(64):
            if id(module) not in self._parents:
                break
            module = self._parents[id(module)][0]
        return module

    def parameter_names(self) -> dict[int, str]:
        """Names of parameters and buffers by their identity."""
        return {
            id(tensor): f"{self.name(module)}.{name}"
            for module in self._modules
            for name, tensor, _ in _registered(module)
        }

    def tensors(self) -> Iterator[Tensor]:
        """Every parameter and buffer."""
        for module in self._modules:
            for _, tensor, _ in _registered(module):
                yield tensor

    def trees(self, trained: set[int]) -> list[dict[str, Any]]:
        """Modules that are part of no other one, as JSON.

        ``trained``: identities of the parameters that an optimizer holds.  Left out are those without tensors, but for
        criteria.
        """
        roots = [module for module in self._modules if id(module) not in self._parents]
        trees = [self._tree_of(each, trained) for each in roots if _criterion(each) or _has_tensors(each)]
        return sorted(trees, key=lambda tree: (not tree["trained"], tree["criterion"], not tree["named"], tree["name"]))

    def _tree_of(self, module: Any, trained: set[int]) -> dict[str, Any]:
        keeper = self._keepers.get(id(module))
        return {
            **self._node(self.name(module), module),
            "named": id(module) in self._names,
            "criterion": _criterion(module),
            "trained": any(id(tensor) in trained or tensor.grad is not None for tensor in _parameters(module)),
            "keeper": keeper
            and {
                "name": self.name(keeper.module),
                "attribute": keeper.attribute,
                "container": keeper.container,
                "places": self.places(self.root(keeper.module)),
            },
        }

    def places(self, module: Any) -> Places:
        """How many tensors of a module and its parts live where."""
        return count(_all_tensors(module), self._place_of)

    def _node(self, name: str, module: Any) -> dict[str, Any]:
        places = self.places(module)
        node: dict[str, Any] = {"name": name, "type": type(module).__name__, "places": places}
        if len(places) > 1:
            node["tensors"] = [
                {"name": key, "kind": kind, **describe(tensor, self._place_of)}
                for key, tensor, kind in _registered(module)
            ]
            parts = [(key, part) for key, part in vars(module)["_modules"].items() if part is not None]
            node["parts"] = [self._node(key, part) for key, part in parts if _has_tensors(part)]
        return node

    def attributes(self) -> list[tuple[Tensor, dict[str, Any]]]:
        """Tensors that modules keep without registering them, with the places of the module that moves."""
        known = {id(tensor) for tensor in self.tensors()}
        found: list[tuple[Tensor, dict[str, Any]]] = []
        for module in self._modules:
            for name, value in vars(module).items():
                if name in _OWN or name.endswith("_hooks"):
                    continue
                for tensor in tensors_in([value]):
                    if id(tensor) in known or len(found) == _MOST_ATTRIBUTES:
                        continue
                    known.add(id(tensor))
                    home = self.places(self.root(module))
                    about = {"name": f"{self.name(module)}.{name}", "type": type(module).__name__, "places": home}
                    found.append((tensor, {**about, **describe(tensor, self._place_of)}))
        return sorted(found, key=lambda pair: str(pair[1]["name"]))


def _step(name: str) -> str:
    """The way to a part as code writes it: ``.head``, ``[0]``."""
    return f"[{name}]" if name.isdigit() else f".{name}"


def _registered(module: Any) -> Iterator[tuple[str, Tensor, str]]:
    for kind, table in (("parameter", "_parameters"), ("buffer", "_buffers")):
        for name, tensor in vars(module).get(table, {}).items():
            if isinstance(tensor, Tensor):
                yield name, tensor, kind


def _all_tensors(module: Any) -> Iterator[Tensor]:
    """Parameters and buffers of a module and its parts, each once.  Nothing of the user's is called."""
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


def _criterion(module: Any) -> bool:
    return isinstance(module, torch.nn.modules.loss._Loss)


def _kept(module: Any) -> Iterator[tuple[_Keeper, Any]]:
    """Modules that are in plain attributes of one, or in lists, tuples and dictionaries there."""
    for name, value in vars(module).items():
        if name in _OWN:
            continue
        if isinstance(value, torch.nn.Module):
            yield _Keeper(module, name, None), value
        elif isinstance(value, (list, tuple, dict)):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, part in items:
                if isinstance(part, torch.nn.Module):
                    yield _Keeper(module, f"{name}[{key!r}]", type(value).__name__), part
