"""Child processes and workers that only make Python or NumPy data."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


def _square(number: int) -> int:
    return number * number


def _fill(queue: Any, count: int) -> None:
    for index in range(count):
        queue.put(np.full(2, float(index)))


class _Numbers(Dataset[Any]):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        assert info is None or 0 <= info.id < info.num_workers
        return torch.full((2,), float(index)), index


def pool_of_processes(device: str) -> Any:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return torch.tensor(pool.map(_square, range(5)), device=device) + 1


def executor_of_processes(device: str) -> Any:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        return torch.tensor(list(pool.map(_square, range(5))), device=device) + 1


def queue_of_arrays(device: str) -> Any:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fill, args=(queue, 3))
    child.start()
    found = [torch.from_numpy(queue.get()).to(device) for _ in range(3)]
    child.join()
    return found


def workers_of_a_loader(device: str) -> Any:
    loader = DataLoader(_Numbers(), batch_size=2, num_workers=2, pin_memory=device == "cuda")
    return [(x.to(device) * 2, y.to(device)) for x, y in loader]


def spawned_process(device: str) -> Any:
    context = multiprocessing.get_context("spawn" if device == "cuda" else "fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_put, args=(queue,))
    child.start()
    child.join()
    return torch.as_tensor(queue.get(), device=device)


def _put(queue: Any) -> None:
    queue.put(np.arange(3.0))
