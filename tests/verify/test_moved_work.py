"""Verdicts on patches that move small work of a model, or of a script without a model, to the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from devfix.verify import prove

from .scripts import edited, project

_START = """\
import numpy, torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""

ROTATION = (
    _START
    + """\
class Rotation(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 64), nn.Linear(64, 32))
        self.angles = torch.rand(32)
    def forward(self, x):
        x = self.layers(x)
        return x * self.angles.cos()
model = Rotation().to(device).eval()
with torch.no_grad():
    for _ in range(3):
        print(model(torch.randn(4, 32).to(device)).sum().item())
"""
)

CLUSTERS = (
    _START
    + """\
points = torch.randn(60, 8).to(device)
centers = points[:3]
for _ in range(4):
    labels = ((points[:, None] - centers[None]) ** 2).sum(-1).argmin(1)
    sums = torch.zeros(3, 8)
    sums.index_add_(0, labels, points)
    counts = torch.bincount(labels, minlength=3).clamp(min=1)
    centers = sums / counts[:, None]
print((points[:, None] - centers[None]).square().sum(-1).min(1).values.mean().item())
"""
)

RECTIFIER = (
    _START
    + """\
class Rectifier(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, gradient):
        return gradient * (ctx.saved_tensors[0] > 0)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 2)
        self.means = []
    def forward(self, x):
        hidden = torch.relu(self.first(x))
        self.means.append(hidden.mean().item())
        return self.second(hidden) * torch.ones(2)
model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = model(torch.randn(5, 6).to(device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
)

_ON_DEVICE = {"torch.ones(2)": "torch.ones(2, device=x.device)"}
_BY_FUNCTION = {"torch.relu(": "Rectifier.apply("}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("script", "edits", "reason"),
    [
        pytest.param(ROTATION, {"self.angles.cos()": "self.angles.cos().to(x.device)"}, "", id="table-moved"),
        pytest.param(
            ROTATION,
            {"x * self.angles.cos()": "(x.cpu() * self.angles.cos()).to(x.device)"},
            "the number of calls of mul there is 3 more",
            id="product-on-cpu",
        ),
        pytest.param(CLUSTERS, {"torch.zeros(3, 8)": "points.new_zeros(3, 8)"}, "", id="sums-on-device"),
        pytest.param(
            CLUSTERS,
            {"labels, points)": "labels.cpu(), points.cpu())", "= sums /": "= sums.to(device) /"},
            "the number of calls of index_add there is 4 more",
            id="sums-on-cpu",
        ),
        pytest.param(
            CLUSTERS,
            {
                "torch.zeros(3, 8)": "points.new_zeros(3, 8)",
                "print((points[:, None] - centers[None])": "print((points.cpu()[:, None] - centers.cpu()[None])",
            },
            "",
            id="result-on-cpu",
        ),
        pytest.param(RECTIFIER, _ON_DEVICE, "", id="ones-on-device"),
        pytest.param(RECTIFIER, _ON_DEVICE | _BY_FUNCTION, "", id="function-on-device"),
        pytest.param(
            RECTIFIER,
            _ON_DEVICE | {"hidden.mean().item()": "hidden.detach().cpu().numpy().mean()"},
            "",
            id="array-for-a-statistic",
        ),
        pytest.param(
            RECTIFIER,
            _ON_DEVICE
            | _BY_FUNCTION
            | {"return x.clamp(min=0)": "return torch.from_numpy(numpy.maximum(x.cpu().numpy(), 0)).to(x.device)"},
            "is computed outside of PyTorch",
            id="function-in-numpy",
        ),
        pytest.param(
            RECTIFIER,
            _ON_DEVICE | _BY_FUNCTION | {"return x.clamp(min=0)": "return x.cpu().clamp(min=0).to(x.device)"},
            "the evaluation does",
            id="function-on-cpu",
        ),
    ],
)
def test_small_work_stays_on_the_accelerator(script: str, edits: dict[str, str], reason: str, tmp_path: Path) -> None:
    patched = script
    for old, new in edits.items():
        patched = edited(old, new, patched)

    found = prove(project(tmp_path / "a", script), project(tmp_path / "b", patched), "train.py")

    assert found.status == ("moved-to-cpu" if reason else "fixed"), found.reason
    assert reason in found.reason
