"""DEV105 by example: flags that stand where the device is expected."""

from __future__ import annotations

import pytest

CODE = "DEV105"
REWRITES = [
    pytest.param(
        """
          y = torch.ones(4)
          if torch.cuda.is_available():
        -     y = y.cuda(True)
        +     y = y.cuda(non_blocking=True)
        """,
        id="flat",
    ),
    pytest.param(
        """
          loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.ones(8, 2)), batch_size=2)
          model = nn.Linear(4, 2).cuda()
          for x, y in loader:
        -     x, y = x.cuda(True), y.cuda(True)
        +     x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
              nn.functional.mse_loss(model(x), y).backward()
        """,
        id="a-batch",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self):
                  self.model = nn.Linear(4, 2).cuda()

              def step(self, x):
        -         return self.model(x.cuda(False))
        +         return self.model(x.cuda(non_blocking=False))


          Trainer().step(torch.ones(3, 4))
        """,
        id="trainer-class",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument('--no-cuda', action='store_true')
          args = parser.parse_args()
          target = torch.ones(4)
          if not args.no_cuda and torch.cuda.is_available():
        -     target = target.cuda(True)  # asynchronous
        +     target = target.cuda(non_blocking=True)  # asynchronous
        """,
        id="argparse",
    ),
    pytest.param(
        """
          # In[1]:
          batch = {'x': torch.ones(4), 'y': torch.ones(4)}
          # In[2]:
        - batch = {k: v.cuda(True) for k, v in batch.items()}
        + batch = {k: v.cuda(non_blocking=True) for k, v in batch.items()}
        """,
        id="notebook-export",
    ),
    pytest.param(
        """
          asynchronous = True
          x = torch.ones(4)
        - x = x.cuda(asynchronous)
        + x = x.cuda(non_blocking=asynchronous)
        """,
        id="a-name",
    ),
    pytest.param(
        """
          x = torch.ones(4)
        - x = (x * 2).cuda(  True  )
        + x = (x * 2).cuda(non_blocking=True)
        """,
        id="of-an-expression",
    ),
    pytest.param(
        """
          x = torch.ones(2, 3, 4, 4)
        - x = x.cuda(True, memory_format=torch.channels_last)
        + x = x.cuda(non_blocking=True, memory_format=torch.channels_last)
        """,
        id="beside-another-argument",
    ),
    pytest.param("- nn.Linear(4, 2).cuda(True)\n+ nn.Linear(4, 2).cuda()\n", id="of-a-module"),
]
SILENT = [
    pytest.param("x = torch.ones(3).cuda(non_blocking=True)\n", id="named"),
    pytest.param("x = torch.ones(3).cuda(0)\n", id="an-index"),
    pytest.param("nn.Linear(4, 2).cuda(None)\n", id="no-device"),
    pytest.param("x = torch.ones(3).cuda(None, True)\n", id="in-its-place"),
    pytest.param("device = torch.device('cuda')\nx = torch.ones(3).cuda(device)\n", id="a-device"),
    pytest.param("import os\nrank = int(os.environ['LOCAL_RANK'])\nx = torch.ones(3).cuda(rank)\n", id="a-rank"),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument('--gpu', type=int, default=0)
        args = parser.parse_args()
        model = nn.Linear(4, 2).cuda(args.gpu)
        model(torch.ones(4).cuda(args.gpu))
        """,
        id="argparse",
    ),
    pytest.param(
        """
        class Switch:
            def cuda(self, on):
                self.on = on


        Switch().cuda(True)
        """,
        id="a-project-class",
    ),
    pytest.param("x = torch.ones(3).cuda(True, non_blocking=False)\n", id="two-flags"),
    pytest.param("# %%\nfrom lib import batch\n# %%\nbatch.cuda(True)\n", id="nobody-knows"),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_the_flag_gets_its_name(before_and_after, repair, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("listing", SILENT)
def test_what_names_a_device_or_is_no_tensor_stays(unchanged, repair, listing):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_a_helper_in_another_file(files_before_and_after, repair):
    before, after = files_before_and_after(
        {
            "move.py": """
              def to_gpu(x):
            -     return x.cuda(True)
            +     return x.cuda(non_blocking=True)
            """,
            "train.py": """
            import torch
            from move import to_gpu

            print(to_gpu(torch.ones(4)))
            """,
        }
    )

    assert repair(CODE, before) == after
