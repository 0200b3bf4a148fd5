"""Subscriptions: functions that are called with the observations of a type, while the program is interpreted."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from devfix.analysis.domain.records import dataclass

if TYPE_CHECKING:
    from devfix.analysis.domain.protocol import Interpreter
    from devfix.analysis.domain.values import Value

__all__ = ["Evaluation", "Handlers", "Observation", "Subscription"]


class Observation:
    """Something that the interpreter observes: the base class of :mod:`devfix.analysis.observations.execution`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation(Observation):
    """An observation with the value that the observed operation yields; a subscriber may replace the value."""

    value: Value


Seen = TypeVar("Seen", bound=Observation)


@dataclass(frozen=True)
class Subscription(Generic[Seen]):
    """The call of ``handler(interpreter, observation)`` for each observation of a type.

    The value that a handler of an :class:`Evaluation` returns replaces the observation's value, for the program and for
    later handlers; ``None`` leaves it as it is.  What other handlers return has no effect.

    A handler may evaluate expressions, read and change the interpreter's state, and record what it finds in
    ``interp.observations``.  It is called on each visit of the code, in each scenario (``interp.scenario``).
    """

    observation: type[Seen]
    handler: Callable[[Interpreter, Seen], Value | None]


class Handlers:
    """The handlers of the subscriptions in force, by type of observation."""

    def __init__(self, subscriptions: Iterable[Subscription[Any]] = ()) -> None:
        self._handlers: dict[type[Observation], list[Callable[[Interpreter, Any], Value | None]]] = {}
        for subscription in dict.fromkeys(subscriptions):  # rules may share a subscription
            self._handlers.setdefault(subscription.observation, []).append(subscription.handler)

    def notify(self, interp: Interpreter, observation: Seen) -> Seen:
        """Call the handlers of an observation; return it with the value that they leave."""
        for handler in self._handlers.get(type(observation), ()):
            value = handler(interp, observation)
            if value is not None and isinstance(observation, Evaluation):
                observation = dataclasses.replace(observation, value=value)
        return observation
