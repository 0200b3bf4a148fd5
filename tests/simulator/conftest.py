"""A simulated machine for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from devfix.simulator import Simulator


@pytest.fixture
def sim() -> Iterator[Simulator]:
    """A machine with one simulated CUDA device."""
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def two() -> Iterator[Simulator]:
    """A machine with two simulated CUDA devices."""
    with Simulator(count=2) as simulator:
        yield simulator
