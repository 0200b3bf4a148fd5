"""A forked child cannot use a device that its parent has used; children that only make CPU data work."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from devfix.simulator import SimulatedWorker, Simulator, unsupported_used

REINITIALIZED = (
    "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn'"
)


def told_by_child(task: Callable[[], Any], method: str = "fork") -> str:
    """What a child process prints of its task: the result, or the message of its error."""
    context: Any = multiprocessing.get_context(method)
    ours, theirs = context.Pipe(duplex=False)

    def run() -> None:
        try:
            theirs.send(str(task()))
        except RuntimeError as error:
            theirs.send(str(error))

    child = context.Process(target=run)
    child.start()
    child.join()
    return str(ours.recv())


def use_device() -> Any:
    return (torch.ones(2).to("cuda") + 1).sum().item()


def test_a_forked_child_cannot_use_the_device_of_its_parent(sim: Simulator) -> None:
    use_device()
    assert told_by_child(use_device).startswith(REINITIALIZED)
    assert unsupported_used() == ["child processes"]


def test_a_forked_child_cannot_use_the_tensors_of_its_parent(sim: Simulator) -> None:
    inherited = torch.ones(2, device="cuda")
    assert told_by_child(lambda: inherited + 1).startswith("CUDA error: initialization error")


def test_a_forked_child_makes_cpu_data(sim: Simulator) -> None:
    use_device()
    assert told_by_child(lambda: torch.manual_seed(0) and (torch.ones(2) + 1).sum().item()) == "4.0"
    assert unsupported_used() == []


def test_a_forked_child_uses_a_device_that_its_parent_has_not_used(sim: Simulator) -> None:
    torch.manual_seed(0)
    assert torch.cuda.is_available()
    assert told_by_child(use_device) == "4.0"


def test_a_spawned_child_uses_the_device(sim: Simulator) -> None:
    use_device()
    assert told_by_child(use_device, "spawn") == "4.0"


def test_a_child_of_a_forked_child_cannot_use_the_device(sim: Simulator) -> None:
    use_device()
    assert told_by_child(lambda: told_by_child(use_device)).startswith(REINITIALIZED)


def test_a_simulated_worker_cannot_use_the_device(sim: Simulator) -> None:
    inherited = torch.ones(2, device="cuda")
    with SimulatedWorker():
        with pytest.raises(RuntimeError, match=REINITIALIZED):
            use_device()
        with pytest.raises(RuntimeError, match="initialization error"):
            inherited + 1
        assert (torch.ones(2) + 1).sum().item() == 4.0
    assert use_device() == 4.0


def test_other_threads_use_the_device_while_a_worker_works(sim: Simulator) -> None:
    use_device()
    found: list[Any] = []
    with SimulatedWorker():
        other = threading.Thread(target=lambda: found.append(use_device()))
        other.start()
        other.join()
    assert found == [4.0]


def test_a_worker_that_starts_before_the_device_is_used_has_its_own(sim: Simulator) -> None:
    worker = SimulatedWorker()
    use_device()
    with worker:
        assert use_device() == 4.0


def test_a_child_uses_the_device_on_mps() -> None:
    with Simulator(kind="mps"):
        torch.ones(2, device="mps")
        assert told_by_child(lambda: torch.ones(2, device="mps").sum().item()) == "2.0"
