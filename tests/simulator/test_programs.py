"""Right programs run right: with the numbers of the CPU, and nothing that would be inconclusive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_flatten

from devfix.simulator import Simulator, unsupported_used
from devfix.simulator.boundaries.compilers import patch_compilers
from devfix.simulator.patches import Patches

from .programs import PROGRAMS

pytestmark = pytest.mark.filterwarnings("ignore")

#: One of each kind; ``nox -s programs`` runs them all.
SAMPLE = (
    "amp.some_operators_are_float32",
    "autograd.saved_tensors_on_the_cpu",
    "compiled.compilers_that_are_reset",
    "compiled.control_flow",
    "compiled.scripted_module_that_is_saved",
    "distributed.fully_sharded_layers",
    "functorch.gradients_of_each_sample",
    "functorch.batched_gradients",
    "graphs.captured_training",
    "memory.pinned_copies",
    "modules.lazy_linear",
    "nested.jagged",
    "nested.strided_of_matrices",
    "processes.queue_of_arrays",
    "random_numbers.generators",
    "sparse.products_with_gradients",
    "subclasses.gradients_through_a_wrapper",
)
CHOSEN = sorted(PROGRAMS) if os.environ.get("DEVFIX_ALL_PROGRAMS") else SAMPLE


@pytest.fixture
def eager() -> Iterator[None]:
    """The CPU's run without compilers, as every run of the probe."""
    patches = Patches()
    patch_compilers(patches)
    yield
    patches.undo()


def _leaves(result: Any) -> list[Any]:
    return [each.detach().cpu().clone() if isinstance(each, torch.Tensor) else each for each in tree_flatten(result)[0]]


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    return bool(one == other)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", CHOSEN)
def test_a_right_program_has_the_numbers_of_the_cpu(name: str) -> None:
    torch.manual_seed(0)
    expected = _leaves(PROGRAMS[name]("cpu"))
    with Simulator(shared_random=True):
        torch.manual_seed(0)
        found = _leaves(PROGRAMS[name]("cuda"))

    assert unsupported_used() == []
    assert len(found) == len(expected)
    assert all(map(_equal, found, expected))


def test_there_are_many_programs() -> None:
    assert len(PROGRAMS) > 150
