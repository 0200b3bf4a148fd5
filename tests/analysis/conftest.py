"""Programs on abstract values: what the flow establishes, asked from outside."""

from __future__ import annotations

import textwrap

import pytest

from devfix import analysis

HEADER = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset\n"


def _analysed(given: str | dict[str, str], latent: bool = False) -> analysis.Observations:
    texts = {"train.py": given} if isinstance(given, str) else given
    files = {f"/project/{name}": HEADER + textwrap.dedent(text) for name, text in texts.items()}
    observations = analysis.analyse(f"/project/{next(iter(texts))}", files.get, "/project", latent)
    assert observations is not None
    return observations


@pytest.fixture
def analyse():
    """The facts of a program; the usual imports stand above it."""
    return _analysed


@pytest.fixture
def met():
    """The stripped source lines on which a CPU value meets the accelerator, each once, in their order."""

    def call(text: str, latent: bool = False) -> list[str]:
        sites = [mismatch.point for mismatch in _analysed(text, latent).mismatches]
        return list(dict.fromkeys(site.tree.line(site.span.line) for site in sites))

    return call


@pytest.fixture
def place():
    """Where an expression's tensor lives after a program: ``cpu``, ``accelerator``, ``either`` or ``unknown``.

    It is brought together with a tensor of the CPU and with one of the accelerator: it meets the other one.
    """

    def call(program: str, expression: str) -> str:
        text = textwrap.dedent(program).strip("\n")
        probed = f"{text}\nprobe = {expression}\nprobe + torch.ones(3)\nprobe + torch.ones(3, device='cuda')\n"
        observations = _analysed(probed)
        last = (HEADER + probed).count("\n")
        lines = {mismatch.point.span.line for mismatch in observations.mismatches}
        meets_cpu, meets_accelerator = last - 1 in lines, last in lines
        if meets_cpu and meets_accelerator:
            return "either"
        return "accelerator" if meets_cpu else "cpu" if meets_accelerator else "unknown"

    return call
