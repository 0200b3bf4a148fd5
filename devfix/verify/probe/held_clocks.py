"""Clocks and sources of random seeds that give each run the same values.

A script that takes its seed from the time of day, from the system's random numbers or from ``torch.seed()`` trains
differently in each run.  With these functions two runs get the same seed.
"""

from __future__ import annotations

import copyreg
import datetime
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

__all__ = ["hold_clocks", "hold_entropy"]

#: The time of day at the script's start, in seconds since 1970: 2025-06-15 12:00 UTC.
_START = 1_749_988_800

#: Calls after which the clock runs again, so that a loop that waits for it ends.
_HELD_CALLS = 1000

_SEED = 20_250_615


def hold_clocks(speed: int = 1) -> None:
    """Make the time of day the same in each run: a microsecond passes with each call, and the first one is exact.

    Durations are no results: with another ``speed`` they differ, whereas the time in seconds does not.

    Args:
        speed: microseconds that pass with each call.

    """
    now_ns = _held_clock(time.monotonic_ns, speed)
    module: Any = time

    def seconds(given: float | None) -> float:
        return now_ns() / 1e9 if given is None else given

    module.time_ns, module.time = now_ns, lambda: now_ns() / 1e9
    for name in ("localtime", "gmtime", "ctime"):
        setattr(module, name, _with_default(getattr(time, name), seconds))
    real_format = time.strftime
    module.strftime = lambda form, moment=None: real_format(form, module.localtime() if moment is None else moment)
    _hold_datetime()


def _held_clock(real_ns: Callable[[], int], speed: int) -> Callable[[], int]:
    calls = 0
    running_since: int | None = None

    def now_ns() -> int:
        nonlocal calls, running_since
        held = _START * 10**9 + min(calls, _HELD_CALLS) * speed * 1000
        calls += 1
        if calls <= _HELD_CALLS:
            return held
        if running_since is None:
            running_since = real_ns()
        return held + (real_ns() - running_since) * speed

    return now_ns


def _with_default(real: Callable[[float], Any], seconds: Callable[[float | None], float]) -> Callable[..., Any]:
    return lambda given=None: real(seconds(given))


class _Moment(type):
    """Class of a class whose instances are those of ``real``."""

    real: Any

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.real)


class _HeldDatetime(datetime.datetime, metaclass=_Moment):
    """``datetime.datetime`` with a clock that is held; it makes ordinary instances."""

    real = datetime.datetime

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.real.__new__(cls.real if cls is _HeldDatetime else cls, *args, **kwargs)

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return cls.real.fromtimestamp(time.time(), tz)

    @classmethod
    def today(cls) -> Any:
        return cls.real.fromtimestamp(time.time())

    @classmethod
    def utcnow(cls) -> Any:
        return cls.real.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)


class _HeldDate(datetime.date, metaclass=_Moment):
    """``datetime.date`` with a clock that is held; it makes ordinary instances."""

    real = datetime.date

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.real.__new__(cls.real if cls is _HeldDate else cls, *args, **kwargs)

    @classmethod
    def today(cls) -> Any:
        return cls.real.fromtimestamp(time.time())


def _hold_datetime() -> None:
    """Replace the classes of :mod:`datetime` that read the clock, under the names of the real ones."""
    module: Any = datetime
    for name, held in (("datetime", _HeldDatetime), ("date", _HeldDate)):
        held.__name__ = held.__qualname__ = name
        held.__module__ = "datetime"
        setattr(module, name, held)
        copyreg.pickle(held.real, _reducer(held))


def _reducer(held: type) -> Callable[[Any], tuple[Any, ...]]:
    """Return what pickles an instance under the name that the class ``held`` now has."""
    return lambda moment: (held, *moment.__reduce_ex__(2)[1:])


def hold_entropy() -> None:
    """Make the system's random numbers, and the seeds that libraries draw from them, the same in each run."""
    import torch

    source = random.Random(_SEED)
    process = os.getpid()
    real_urandom = os.urandom
    module: Any = os

    def urandom(size: int) -> bytes:
        return source.randbytes(size) if os.getpid() == process else real_urandom(size)

    module.urandom = urandom
    vars(random)["_urandom"] = urandom
    _seed_by_default(random, "seed", lambda: source.getrandbits(64))

    def seed() -> int:
        drawn = source.getrandbits(63)
        torch.manual_seed(drawn)
        return drawn

    library: Any = torch
    library.seed = library.random.seed = seed
    _hold_entropy_of_numpy(source)


def _seed_by_default(module: Any, name: str, draw: Callable[[], int]) -> None:
    real = getattr(module, name)

    def seed(value: Any = None, *rest: Any, **more: Any) -> Any:
        return real(draw() if value is None else value, *rest, **more)

    setattr(module, name, seed)


def _hold_entropy_of_numpy(source: random.Random) -> None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return
    generators: Any = sys.modules["numpy.random.bit_generator"]
    generators.randbits = source.getrandbits  # what SeedSequence draws from
    _seed_by_default(numpy.random, "seed", lambda: source.getrandbits(32))
