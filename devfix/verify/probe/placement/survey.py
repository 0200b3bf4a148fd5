"""The moment at which the device map is recorded, and its assembly."""

from __future__ import annotations

import argparse
import gc
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from ..parameters import untracked
from ..provenance import Provenance
from ..provenance.frames import PROJECT, Point, position
from ..provenance.histories import Node
from ..provenance.naming import reachable, variables
from ..provenance.ownership import all_modules
from ..provenance.story import failing_call
from .batches import Batches, uses
from .environment import environment
from .memory import memory
from .module_tree import ModuleForest
from .optimizers import describe_optimizer, describe_scaler, parameters_of, state_tensors
from .variables import Variables

__all__ = ["Survey"]

_MAX_STEPS = 10


class Survey:
    """Recorder of a run's device map, once: after the first step of every optimizer, or else at the run's end.

    Args:
        provenance: the provenance of the run.
        options: the probe's command line.

    Attributes:
        map: the map as JSON; None until it is recorded.

    """

    def __init__(self, provenance: Provenance, options: argparse.Namespace) -> None:
        self.map: dict[str, Any] | None = None
        self._provenance = provenance
        self._options = options
        self._batches = Batches(provenance.histories, provenance.patch)
        self._stepped: set[int] = set()

    def after_step(self, stepped: list[Any], steps: int, last: bool) -> bool:
        """Record the map if every optimizer has made a step; return whether the map exists.

        Args:
            stepped: the optimizers that have made a step.
            steps: number of steps so far, including manual updates.
            last: the run ends with this step.

        """
        if self.map is not None:
            return True
        self._stepped = {id(each) for each in stepped}
        waiting = stepped and any(id(each) not in self._stepped for each in _instances(torch.optim.Optimizer))
        if waiting and not last and steps < _MAX_STEPS:
            return False
        self._record("step", steps, list(_stack(sys._getframe(1))))
        return True

    def at_failure(self, error: BaseException, steps: int) -> None:
        """Record the map from the frames of an exception."""
        if self.map is None:
            origin, operands = failing_call(self._provenance, error)
            self._record("failure", steps, list(_raised(origin)), operands)

    def at_end(self, steps: int) -> None:
        """Record the map from the script's globals."""
        if self.map is None:
            self._record("end", steps, [])

    def _record(
        self, moment: str, steps: int, frames: list[tuple[FrameType, int]], operands: Sequence[Sequence[Node]] = ()
    ) -> None:
        frames = [(frame, at) for frame, at in frames if self._provenance.frames.kind(frame.f_code) == PROJECT]
        environment_facts = environment(self._options)
        gc.collect()
        with untracked():
            snapshot = _Snapshot(self, [frame for frame, _ in frames]).describe(operands)
        position_of_map = (
            position(Point(frames[0][0].f_code, frames[0][1]), self._provenance.frames) if frames else None
        )
        self.map = {
            "moment": moment,
            "steps": steps,
            "where": position_of_map,
            "environment": environment_facts,
            **snapshot,
        }


class _Snapshot:
    """Snapshot of the program's objects."""

    def __init__(self, survey: Survey, frames: list[FrameType]) -> None:
        self._survey = survey
        self._histories = survey._provenance.histories
        self._device_of: Callable[[Tensor], str] = self._histories.device_of
        scopes = [variables(frame) for frame in frames] or [_globals_of_main()]
        self._variables = Variables(self._histories.of)
        self._names: dict[int, str] = {}
        ranks: dict[int, tuple[int, int, int]] = {}
        for number, scope in enumerate(scopes):
            for text, value, _ in reachable(scope):
                rank = (len(re.findall(r"[.\[]|^self\b", text)), number, len(text))  # prefer net to self
                if isinstance(value, Tensor):
                    self._variables.add(text, value, rank)
                elif rank < ranks.get(id(value), (99, 0, 0)):
                    ranks[id(value)], self._names[id(value)] = rank, text

    def describe(self, operands: Sequence[Sequence[Node]]) -> dict[str, Any]:
        """Return the map without its circumstances; ``operands`` are a failing call's operands with their histories."""
        optimizers = list(_instances(torch.optim.Optimizer))
        forest = ModuleForest(all_modules(), self._names, self._device_of)
        names = forest.parameter_names()
        attributes = forest.attributes()
        owned = list(forest.tensors())
        state = [tensor for each in optimizers for _, _, tensor in state_tensors(each)]
        parameters = [tensor for each in optimizers for tensor in parameters_of(each)]
        gradients = [each.grad for each in (*owned, *parameters) if each.is_leaf and each.grad is not None]
        kinds = (
            ("modules", [*owned, *(tensor for tensor, _ in attributes)]),
            ("gradients", gradients),
            ("optimizers", state),
        )
        # The probe's own tensors and leftovers of the autograd engine have no history.
        others = (tensor for tensor in _instances(Tensor) if self._histories.of(tensor) is not None)
        batches = self._survey._batches
        nodes = batches.nodes()
        failed = {id(node) for chain in operands for node in chain}
        direct = {id(chain[0]) for chain in operands}
        separate = [tensor for _, tensors in kinds for tensor in tensors]
        return {
            "modules": forest.trees({id(each) for each in parameters}),
            "attributes": [{**about, **uses(self._histories.of(tensor), failed)} for tensor, about in attributes],
            "optimizers": [
                describe_optimizer(each, self._name(each), names, self._device_of, id(each) in self._survey._stepped)
                for each in optimizers
            ],
            "scalers": [
                describe_scaler(each, self._name(each), self._device_of) for each in _instances(torch.amp.GradScaler)
            ],
            "batches": batches.describe(self._names, self._variables.with_history, failed),
            "tensors": self._variables.describe(self._device_of, separate, nodes, direct),
            "memory": memory((*kinds, ("others", others)), self._device_of),
        }

    def _name(self, value: Any) -> str:
        return self._names.get(id(value), type(value).__name__)


def _instances(kind: type) -> Iterator[Any]:
    """Yield every live instance, by its type only, because ``isinstance`` may call user code."""
    known: dict[type, bool] = {}
    for each in gc.get_objects():
        type_ = type(each)
        found = known.get(type_)
        if found is None:
            found = known[type_] = issubclass(type_, kind)
        if found:
            yield each


def _stack(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    while frame is not None:
        yield frame, frame.f_lasti
        frame = frame.f_back


def _raised(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    found = []
    traceback = error.__traceback__
    while traceback is not None:
        found.append((traceback.tb_frame, traceback.tb_lasti))
        traceback = traceback.tb_next
    return reversed(found)


def _globals_of_main() -> dict[str, Any]:
    return {name: value for name, value in vars(sys.modules["__main__"]).items() if not name.startswith("__")}
