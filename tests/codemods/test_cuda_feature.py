"""DEV817 by example: code without an equivalent on other devices."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

CODE = "DEV817"
HEAD = "import torch\n\n"


def reported(tmp_path, text: str):
    file = SourceFile(str(tmp_path / "train.py"), text.encode(), text)
    return fixpoint.check([file], Settings(select=(CODE,), root=str(tmp_path))).resolutions


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("from flash_attn import flash_attn_func\n", "flash_attn", id="package"),
        pytest.param("import apex.amp\n", "apex.amp", id="module"),
        pytest.param("graph = torch.cuda.CUDAGraph()\n", "torch.cuda.CUDAGraph", id="graph"),
        pytest.param('torch.cuda.nvtx.range_push("step")\n', "torch.cuda.nvtx.range_push", id="nvtx"),
        pytest.param(
            'from torch.utils.cpp_extension import load\nops = load("ops", ["ops.cpp", "ops.cu"])\n',
            "torch.utils.cpp_extension.load",
            id="extension",
        ),
    ],
)
def test_a_feature_of_cuda_is_listed_with_the_reason(text, name, tmp_path):
    (resolution,) = reported(tmp_path, HEAD + text)
    assert resolution.finding.message == f"`{name}` has no equivalent without CUDA"
    assert resolution.finding.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("try:\n    import apex\nexcept ImportError:\n    apex = None\n", id="tried"),
        pytest.param("def fast():\n    import triton\n    return triton\n", id="in-a-function"),
        pytest.param("if torch.cuda.is_available():\n    graph = torch.cuda.CUDAGraph()\n", id="guarded"),
        pytest.param(
            'from torch.utils.cpp_extension import load\nops = load("ops", ["ops.cpp"])\n', id="an-extension-in-c++"
        ),
        pytest.param("from apex_tools import apex\n", id="another-package"),
    ],
)
def test_left_alone(text, tmp_path):
    assert reported(tmp_path, HEAD + text) == ()
