"""Small training scripts that the tests write into folders."""

from __future__ import annotations

from pathlib import Path

__all__ = ["BROKEN", "FIXED", "edited", "project"]

BROKEN = """\
import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
model.to(device)
head = nn.Linear(3, 3).to(device)
optimizer = torch.optim.Adam([{"params": model.parameters()}, {"params": head.parameters()}], lr=1e-2)
data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(3, (32,)))
for x, y in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, num_workers=2):
    loss = nn.functional.cross_entropy(head(model(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.4f}")
"""

FIXED = BROKEN.replace("    loss = nn", "    x, y = x.to(device), y.to(device)\n    loss = nn")


def edited(old: str, new: str, source: str = FIXED) -> str:
    """A script with one piece replaced; the piece must be there."""
    assert source.count(old) == 1, old
    return source.replace(old, new)


def project(folder: Path, source: str, name: str = "train.py") -> Path:
    """A folder with one script."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(source, encoding="utf-8")
    return folder
