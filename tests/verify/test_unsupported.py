"""What the simulator cannot model is in its documentation, and a script that uses it is never ``fixed``."""

# ruff: noqa: E501
from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from devfix.verify import judge, run

from .scripts import BROKEN, FIXED, project

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "explanation" / "simulator.md"

#: What a script does on the accelerator, by the feature that it uses.
USES = {
    "torch.cuda.jiterator": "torch.cuda.jiterator._create_jit_fn('template <typename T> T f(T x) { return x; }')(torch.ones(2).cuda())",
    "DLPack of device memory": "torch.utils.dlpack.to_dlpack(torch.ones(2).cuda())",
    "__cuda_array_interface__": "torch.ones(2).cuda().__cuda_array_interface__",
    "child processes": "import os; os.waitpid(os.fork() or os._exit(0 * (torch.ones(2).cuda() + 1).numel()), 0)",
    "torch.jit.load": "torch.jit.load('nothing.pt')",
    "torch.ops.load_library": "torch.ops.load_library('nothing.so')",
    "torch.utils.cpp_extension": "open('x.cpp', 'w').close(); from torch.utils import cpp_extension; cpp_extension.load('x', ['x.cpp'], build_directory='nothing')",
}  # fmt: skip


def using(source: str, use: str) -> str:
    """The script, which tries the feature where there is an accelerator, and goes on."""
    attempt = (
        f"if device.type == 'cuda':\n    try:\n        {use}\n    except Exception as error:\n        print(error)\n"
    )
    return source.replace("for x, y in", attempt + "for x, y in")


@pytest.mark.sample(3)
@pytest.mark.parametrize("feature", USES)
def test_what_cannot_be_modelled_proves_nothing(feature: str, tmp_path: Path) -> None:
    module, _, name = feature.rpartition(".")
    if module == "torch.cuda" and not hasattr(torch.cuda, name):
        pytest.skip(f"this PyTorch has no {feature}")
    patched = project(tmp_path / "patched", using(FIXED, USES[feature]))
    original = project(tmp_path / "original", using(BROKEN, USES[feature]))
    runs = {"patched/device": run("train.py", [], "sim", patched), "patched/cpu": run("train.py", [], "cpu", patched)}
    runs["original/device"] = run("train.py", [], "sim", original)
    runs["original/cpu"] = runs["original/unchecked"] = runs["patched/cpu"]

    assert runs["patched/device"].losses == runs["patched/cpu"].losses, runs["patched/device"].outcome
    assert runs["patched/device"].unsupported == (feature,)
    assert runs["patched/cpu"].unsupported == ()
    found = judge(runs)
    assert (found.status, found.good) == ("inconclusive", False)
    assert feature in found.reason


@pytest.mark.parametrize("feature", USES)
def test_what_cannot_be_modelled_is_documented(feature: str) -> None:
    assert f"`{feature}`" in DOCUMENTATION.read_text(encoding="utf-8")
