"""The engine leaves out the findings that it is told to leave out."""

from __future__ import annotations

from pathlib import Path

from devfix import sources
from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Status

SOURCE = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3)).to(device)
model[1] = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(3, (32,)))
for x, y in torch.utils.data.DataLoader(data, batch_size=8):
    x = x.to(device)
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
"""


def test_a_finding_that_is_left_out_is_not_repaired_and_the_others_are(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SOURCE)
    files = [sources.read(str(tmp_path / "train.py"))]
    settings = Settings(root=str(tmp_path))
    everything = fixpoint.apply(files, settings)
    assert [item.status for item in everything.resolutions] == [Status.FIXED, Status.FIXED]

    for left in everything.resolutions:
        outcome = fixpoint.apply(files, settings, without=[left.finding])

        assert {item.finding.code: item.status for item in outcome.resolutions} == {
            item.finding.code: Status.NOT_FIXED if item is left else Status.FIXED for item in everything.resolutions
        }
        assert outcome.patch != everything.patch
    assert fixpoint.apply(files, settings, without=[item.finding for item in everything.resolutions]).patch.files == ()
