"""The oldest release of PyTorch that a project declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.analysis.program import Program
from devfix.analysis.torch.releases import leaves_step_behind, named_release, oldest_release


def declared(folder, name, text):
    (folder / name).write_text(text)
    (folder / "train.py").write_text("")
    program = Program(lambda path: Path(path).read_text(encoding="utf-8"), str(folder))
    program.search_from(str(folder / "train.py"))
    return program


@pytest.mark.parametrize(
    ("name", "text", "release"),
    [
        ("requirements.txt", "numpy\ntorch~=2.1.0\n", (2, 1)),
        ("requirements.txt", "torch == 1.13.1 # with CUDA\n", (1, 13)),
        ("pyproject.toml", 'dependencies = [\n    "torch>=2.4",\n]\n', (2, 4)),
        ("pyproject.toml", 'dependencies = ["numpy", "torch>=2.6,<3"]\n', (2, 6)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.3"\n', (2, 3)),
        ("setup.py", "setup(install_requires=['numpy', 'torch >= 1.7'])\n", (1, 7)),
        ("pyproject.toml", 'dependencies = ["torchvision>=0.9", "pytorch-lightning>=2.0"]\n', None),
        ("environment.yml", "dependencies:\n  - pytorch=1.9.0\n", (1, 9)),
        ("requirements.txt", "torchvision==0.10.0\ntorch\n", None),
        ("requirements.txt", "torch<2.2\n", None),
        ("requirements.txt", "torch[opt-einsum]==1.8\n", (1, 8)),
        ("notes.txt", "torch==1.9.0\n", None),
    ],
)
def test_the_oldest_release_is_read_from_the_files_that_declare_it(name, text, release, tmp_path):
    assert oldest_release(declared(tmp_path, name, text)) == release


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("# Loss\n\nPython 3.7 and PyTorch (>= 1.9.0).\n", (1, 9)),
        ("Tested with pytorch==1.8.1, torchvision 0.9\n", (1, 8)),
        ("Install torch version 2.0.1\n", (2, 0)),
        ("Pytorch0.4.1 codes for faces\n", (0, 4)),
        ("Python-3.6, Pytorch-0.3.0, Keras\n", (0, 3)),
        ("* [PyTorch](http://pytorch.org/) - We tested with v0.3.0\n", (0, 3)),
        ("- a PyTorch install version 0.1.8 ([pytorch.org](http://pytorch.org))\n", (0, 1)),
        ("Install PyTorch (Works on Version 0.2.0_3) and dependencies\n", (0, 2)),
        ("Needs PyTorch, torchvision 0.9 and pytorch-lightning 1.5\n", None),
        ("Built on PyTorch3D 0.6\n", None),
        ("docker run nvcr.io/nvidia/pytorch:20.06-py3\n", (1, 6)),
        ("docker run nvcr.io/nvidia/pytorch:23.12-py3\n", (2, 2)),
        ("docker run nvcr.io/nvidia/tensorflow:20.06-py3\n", None),
        ("pytorch 1.x, Python version 3.6\n", None),
        ("PyTorch with CUDA v9.0\n", None),
        ("torch-geometric v0.3, PyTorch tested with Python 3.6\n", None),
        ("This PyTorch package (v0.1.2) implements it\n", None),
        ("A PyTorch port of SSD, version 0.2\n", None),
        ("PyTorch version: 1.4\n", (1, 4)),
        ("Needs [PyTorch](https://pytorch.org) 1.4\n", (1, 4)),
        ("PyTorch Geometric requires 2.0.4\n", None),
        ("pytorch-lightning (tested with 1.0.8)\n", None),
        ("torch-scatter: install 2.0.5\n", None),
        ("A PyTorch implementation, requires 0.5 GB\n", None),
        ("PyTorch using 0.5 dropout\n", None),
        ("pip install segmentation-models-pytorch==0.2.1\n\nPyTorch 2.1\n", (2, 1)),
        ("TTS-PyTorch v0.1.2: needs PyTorch 1.9\n", (1, 9)),
        ("| PyTorch | 0.3 | 0.4 |\n", None),
        ("PyTorch, 2.5x faster\n", None),
    ],
)
def test_the_release_of_a_readme_counts_if_nothing_declares_one(text, release, tmp_path):
    assert named_release(declared(tmp_path, "README.md", text)) == release
    assert oldest_release(declared(tmp_path, "README.md", text)) is None


def test_what_is_declared_counts_more_than_a_readme(tmp_path):
    (tmp_path / "README.md").write_text("PyTorch 1.9\n")

    assert named_release(declared(tmp_path, "requirements.txt", "torch>=2.4\n")) == (2, 4)


@pytest.mark.parametrize(("text", "left"), [("torch>=2.2", False), ("torch~=2.1.0", True), ("torch", False)])
def test_steps_are_left_behind_by_releases_that_are_declared(text, left, tmp_path):
    assert leaves_step_behind(declared(tmp_path, "requirements.txt", text)) is left
