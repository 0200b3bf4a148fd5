"""The table of functions of torch.cuda agrees with the installed PyTorch."""

from __future__ import annotations

import warnings
from functools import reduce

import pytest

torch = pytest.importorskip("torch")

from codemods.portability._cuda_api import cuda_function, cuda_functions  # noqa: E402

RELEASE = tuple(int(part) for part in torch.__version__.split(".")[:2])
PROPOSED = sorted(
    {
        each.name
        for function in cuda_functions().values()
        for each in function.namesakes.values()
        if each.since <= RELEASE
    }
    | {function.deprecated for function in cuda_functions().values() if function.deprecated}
    | set(cuda_functions())
)


def attribute(name: str) -> object:
    return reduce(getattr, name.split(".")[1:], torch)


def test_every_name_that_is_proposed_exists() -> None:
    assert len(PROPOSED) > 100
    assert [name for name in PROPOSED if not callable(attribute(name))] == []


@pytest.mark.parametrize("invented", ["manual_seed_all", "get_device_name", "get_device_properties", "ipc_collect"])
def test_no_name_is_invented(invented: str) -> None:
    assert not hasattr(torch.accelerator, invented)
    function = cuda_function(f"torch.cuda.{invented}")
    assert function is not None
    assert function.namesake("accelerator", (9, 9)) is None


def disagreement(name: str) -> str:
    """Return what a call without arguments does, if that is not in the table."""
    said = cuda_function(name).without
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = attribute(name)()
    except TypeError:
        return ""  # it needs arguments
    except Exception as error:
        return "" if said == "raises" else f"{name} raises {error!r}"
    return "" if said in ("nothing", "works", f"returns {result!r}") else f"{name} returns {result!r}"


@pytest.mark.skipif(torch.version.cuda is not None, reason="the table is that of a build without CUDA")
def test_calls_without_cuda_do_what_the_table_says() -> None:
    assert [told for told in map(disagreement, cuda_functions()) if told] == []


def test_a_namesake_is_known_by_its_release() -> None:
    synchronize = cuda_function("torch.cuda.synchronize")
    allocated = cuda_function("torch.cuda.memory_allocated")

    assert synchronize.namesake("accelerator", (2, 5)) is None
    assert synchronize.namesake("accelerator", (2, 6)) == "torch.accelerator.synchronize"
    assert allocated.namesake("accelerator", (2, 8)) is None
    assert allocated.namesake("accelerator", (2, 9)) == "torch.accelerator.memory_allocated"
