"""When the map is taken, and what is put on it."""

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

from ..parameters import unwatched
from ..provenance import Provenance
from ..provenance.frames import PROJECT, Point, position
from ..provenance.histories import Node
from ..provenance.naming import reachable, variables
from ..provenance.ownership import all_modules
from ..provenance.story import failing
from .batches import Batches, fate
from .environment import environment
from .memory import memory
from .module_tree import Forest
from .optimizers import held, optimizer, scaler, states
from .variables import Variables

__all__ = ["Survey"]

_MOST_STEPS = 10


class Survey:
    """Takes the map of a run, once: when every optimizer has made its first step, or else at the run's end.

    Args:
        watch: the provenance of the run.
        options: the probe's command line.

    Attributes:
        map: the map, as JSON; None until it is taken.

    """

    def __init__(self, watch: Provenance, options: argparse.Namespace) -> None:
        self.map: dict[str, Any] | None = None
        self._watch = watch
        self._options = options
        self._batches = Batches(watch.histories, watch.patch)
        self._stepped: set[int] = set()

    def after_step(self, stepped: list[Any], steps: int, last: bool) -> bool:
        """Look, if it is time; returns whether it was.

        Args:
            stepped: the optimizers that have made a step.
            steps: how many steps have been made, also by hand.
            last: the run ends with this step.

        """
        if self.map is not None:
            return True
        self._stepped = {id(each) for each in stepped}
        waiting = stepped and any(id(each) not in self._stepped for each in _instances(torch.optim.Optimizer))
        if waiting and not last and steps < _MOST_STEPS:
            return False
        self._take("step", steps, list(_stack(sys._getframe(1))))
        return True

    def at_failure(self, error: BaseException, steps: int) -> None:
        """Look at what the frames of an exception hold."""
        if self.map is None:
            origin, operands = failing(self._watch, error)
            self._take("failure", steps, list(_raised(origin)), operands)

    def at_end(self, steps: int) -> None:
        """Look at what the script leaves behind."""
        if self.map is None:
            self._take("end", steps, [])

    def _take(
        self, moment: str, steps: int, frames: list[tuple[FrameType, int]], operands: Sequence[Sequence[Node]] = ()
    ) -> None:
        frames = [(frame, at) for frame, at in frames if self._watch.frames.kind(frame.f_code) == PROJECT]
        about = environment(self._options)
        gc.collect()
        with unwatched():
            drawn = _Drawing(self, [frame for frame, _ in frames]).draw(operands)
        where = position(Point(frames[0][0].f_code, frames[0][1]), self._watch.frames) if frames else None
        self.map = {"moment": moment, "steps": steps, "where": where, "environment": about, **drawn}


class _Drawing:
    """One look at the program."""

    def __init__(self, survey: Survey, frames: list[FrameType]) -> None:
        self._survey = survey
        self._histories = survey._watch.histories
        self._place_of: Callable[[Tensor], str] = self._histories.device_of
        scopes = [variables(frame) for frame in frames] or [_globals_of_main()]
        self._variables = Variables(self._histories.of)
        self._names: dict[int, str] = {}
        ranks: dict[int, tuple[int, int, int]] = {}
        for number, scope in enumerate(scopes):
            for text, value, _ in reachable(scope):
                rank = (len(re.findall(r"[.\[]|^self\b", text)), number, len(text))  # rather net than self
                if isinstance(value, Tensor):
                    self._variables.add(text, value, rank)
                elif rank < ranks.get(id(value), (99, 0, 0)):
                    ranks[id(value)], self._names[id(value)] = rank, text

    def draw(self, operands: Sequence[Sequence[Node]]) -> dict[str, Any]:
        """All but the circumstances; ``operands`` are those of a call that failed, each with what it was made of."""
        optimizers = list(_instances(torch.optim.Optimizer))
        forest = Forest(all_modules(), self._names, self._place_of)
        names = forest.parameter_names()
        attributes = forest.attributes()
        owned = list(forest.tensors())
        state = [tensor for each in optimizers for _, _, tensor in states(each)]
        parameters = [tensor for each in optimizers for tensor in held(each)]
        gradients = [each.grad for each in (*owned, *parameters) if each.is_leaf and each.grad is not None]
        kinds = (
            ("modules", [*owned, *(tensor for tensor, _ in attributes)]),
            ("gradients", gradients),
            ("optimizers", state),
        )
        # Without a history: what the probe itself keeps, and what the autograd engine has left behind.
        others = (tensor for tensor in _instances(Tensor) if self._histories.of(tensor) is not None)
        batches = self._survey._batches
        nodes = batches.nodes()
        failed = {id(node) for strand in operands for node in strand}
        direct = {id(strand[0]) for strand in operands}
        apart = [tensor for _, tensors in kinds for tensor in tensors]
        return {
            "modules": forest.trees({id(each) for each in parameters}),
            "attributes": [{**about, **fate(self._histories.of(tensor), failed)} for tensor, about in attributes],
            "optimizers": [
                optimizer(each, self._name(each), names, self._place_of, id(each) in self._survey._stepped)
                for each in optimizers
            ],
            "scalers": [scaler(each, self._name(each), self._place_of) for each in _instances(torch.amp.GradScaler)],
            "batches": batches.tell(self._names, self._variables.with_history, failed),
            "tensors": self._variables.tell(self._place_of, apart, nodes, direct),
            "memory": memory((*kinds, ("others", others)), self._place_of),
        }

    def _name(self, value: Any) -> str:
        return self._names.get(id(value), type(value).__name__)


def _instances(kind: type) -> Iterator[Any]:
    """Every living instance; looks at types only, for asking an instance may call the user's code."""
    known: dict[type, bool] = {}
    for each in gc.get_objects():
        own = type(each)
        found = known.get(own)
        if found is None:
            found = known[own] = issubclass(own, kind)
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
