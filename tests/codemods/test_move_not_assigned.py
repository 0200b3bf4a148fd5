"""DEV103 by example: moves whose result is dropped, and statements that move in place."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity
from devfix.sources import SourceFile

CODE = "DEV103"
REWRITES = [
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          x = torch.ones(4)
        - x.to(device)
        + x = x.to(device)
          print(model(x))
        """,
        id="flat",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, loader, device):
                  self.model, self.loader, self.device = model.to(device), loader, device

              def epoch(self):
                  for x, y in self.loader:
        -             x.to(self.device); y.to(self.device)
        +             x = x.to(self.device); y = y.to(self.device)
                      nn.functional.mse_loss(self.model(x), y).backward()


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          data = TensorDataset(torch.randn(8, 4), torch.randn(8, 2))
          Trainer(nn.Linear(4, 2), DataLoader(data, batch_size=2), device).epoch()
        """,
        id="trainer-class",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument('--cuda', action='store_true')
          args = parser.parse_args()
          model, x = nn.Linear(4, 2), torch.ones(4)
          if args.cuda:
              model.cuda()
        -     x.cuda()  # the input
        +     x = x.cuda()  # the input
          model(x).sum().backward()
        """,
        id="cuda-under-a-flag",
    ),
    pytest.param(
        """
          # In[1]:
          device = 'cuda' if torch.cuda.is_available() else 'cpu'
          model = nn.Linear(4, 2).to(device)
          # In[2]:
          batch = {'x': torch.ones(4), 'y': torch.ones(2)}
          for k, v in batch.items():
        -     v.to(device)
        +     batch[k] = v.to(device)
          # In[3]:
          loss = nn.functional.mse_loss(model(batch['x']), batch['y'])
          loss.backward()
        """,
        id="notebook-export",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          parts = {'x': torch.ones(4)}
        - for v in parts.values():
        -     v.to(device)
        + parts = {k: v.to(device) for k, v in parts.items()}
          model(parts['x']).sum().backward()
        """,
        id="values",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randn(8, 2)), batch_size=2)
          for batch in loader:
        -     for t in batch:
        -         t = t.to(device, non_blocking=True)
        +     batch = [t.to(device, non_blocking=True) for t in batch]
              x, y = batch
              nn.functional.mse_loss(model(x), y).backward()
        """,
        id="items-of-a-batch",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


          class Model(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.fc = nn.Linear(4, 2)

              def forward(self, x):
                  mask = torch.ones(4)
        -         mask.to(x.device)
        +         mask = mask.to(x.device)
                  return self.fc(x * mask)


          Model().to(device)(torch.ones(4).to(device)).sum().backward()
        """,
        id="in-a-module",
    ),
]
SILENT = [
    pytest.param("model = nn.Linear(4, 2)\nmodel.cuda()\nmodel(torch.ones(4).cuda()).sum().backward()\n", id="module"),
    pytest.param("y = torch.ones(4)\ny.to('cuda')\nprint(y + 1)\ny.sum().tolist()\n", id="without-consequence"),
    pytest.param(
        "x = torch.ones(4).cuda()\nfor t in [torch.ones(4)]:\n    t = t.to('cuda')\n    print(x + t)\n",
        id="moved-and-used",
    ),
    pytest.param(
        """
        class Batch:
            def __init__(self, x):
                self.x = x

            def to(self, device):
                self.x = self.x.to(device)
                return self


        batch = Batch(torch.ones(4))
        batch.to('cuda')
        nn.Linear(4, 2).cuda()(batch.x).sum().backward()
        """,
        id="a-container-that-moves-in-place",
    ),
    pytest.param(
        """
        model = nn.Linear(4, 2).cuda()
        x = torch.ones(4)
        x.data = x.data.to('cuda')
        model(x).sum().backward()
        """,
        id="data",
    ),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument('--cuda', action='store_true')
        args = parser.parse_args()
        criterion = nn.CrossEntropyLoss(weight=torch.ones(2))
        model = nn.Linear(4, 2)
        if args.cuda:
            model.cuda(), criterion.cuda()
        for _ in range(2):
            model(torch.ones(4).cuda() if args.cuda else torch.ones(4)).sum().backward()
        """,
        id="argparse-modules",
    ),
    pytest.param(
        """
        # In[1]:
        model = nn.Linear(4, 2).cuda()
        x = torch.ones(4)
        # In[2]:
        x.cuda()
        # In[3]:
        x = torch.ones(4, device='cuda')
        model(x).sum().backward()
        """,
        id="notebook-export-bound-anew",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_what_the_move_gives_is_kept(before_and_after, repair, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("listing", SILENT)
def test_a_move_in_place_or_without_consequence_stays(unchanged, repair, listing):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_a_helper_in_another_file(files_before_and_after, repair):
    before, after = files_before_and_after(
        {
            "data.py": """
              import torch


              def batch(device):
                  x = torch.ones(4)
            -     x.to(device)
            +     x = x.to(device)
                  return x
            """,
            "train.py": """
            import torch
            from data import batch
            from torch import nn

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            nn.Linear(4, 2).to(device)(batch(device)).sum().backward()
            """,
        }
    )

    assert repair(CODE, before) == after


LIBRARY = [
    pytest.param(
        """
          def table(n, device=None):
              found = torch.zeros(n)
              if device is not None:
        -         found.to(device=device)
        +         found = found.to(device=device)
              return found
        """,
        id="function",
    ),
    pytest.param(
        """
          class Table(nn.Module):
              def __init__(self, n):
                  super().__init__()
                  self.register_buffer("rows", self.made(n))

              @staticmethod
              def made(n, device=None):
                  found = torch.zeros(n)
                  if device is not None:
        -             found.to(device=device)
        +             found = found.to(device=device)
                  return found

              def forward(self, x):
                  if max(x) >= len(self.rows):
                      self.rows = self.made(max(x) + 1, self.rows.device)
                  return self.rows[x]
        """,
        id="method-that-the-constructor-calls",
    ),
]


@pytest.mark.parametrize("listing", LIBRARY)
def test_in_library_code_it_is_latent_without_any_use(before_and_after, tmp_path, listing):
    before, after = before_and_after(listing)
    source = SourceFile(str(tmp_path / "lib.py"), before.encode(), before)
    settings = Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path))
    (tmp_path / "lib.py").write_text(before)
    outcome = fixpoint.apply([source], settings)

    assert [r.finding.severity for r in outcome.resolutions] == [Severity.LATENT]
    assert [change.new.decode() for change in outcome.patch.files] == [after]


@pytest.mark.parametrize("end", ["    return torch.ones(n)\n", "    found = torch.ones(n)\n    return found\n"])
def test_what_nothing_reads_afterwards_is_not_reported(tmp_path, end):
    text = f"import torch\n\n\ndef table(n, device=None):\n    found = torch.zeros(n)\n    found.to(device)\n{end}"
    source = SourceFile(str(tmp_path / "lib.py"), text.encode(), text)
    settings = Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path))

    assert fixpoint.check([source], settings).resolutions == ()
