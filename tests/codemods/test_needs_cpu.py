"""DEV601 by example: what NumPy and its neighbours read, and reads that copy by themselves."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

CODE = "DEV601"
SETUP = """
  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
  model = nn.Linear(4, 2).to(device)
  x = torch.randn(8, 4).to(device)
"""


def below_setup(body: str) -> str:
    return SETUP + "\n".join(row if row[:2] in ("- ", "+ ") else f"  {row}" for row in body.splitlines()) + "\n"


REWRITES = [
    pytest.param(below_setup("- p = model(x).numpy()\n+ p = model(x).detach().cpu().numpy()"), id="gradient"),
    pytest.param(below_setup("- p = x.data.numpy()\n+ p = x.data.cpu().numpy()"), id="no-gradient"),
    pytest.param(
        below_setup(
            "import numpy as np\nkept = []\nfor _ in range(2):\n-     kept.append(model(x).argmax(1))\n"
            "+     kept.append(model(x).argmax(1).cpu())\nprint(np.concatenate(kept))"
        ),
        id="list",
    ),
    pytest.param(
        below_setup(
            "import numpy as np\nlosses = []\nfor _ in range(2):\n    losses.append(model(x).mean())\n"
            "sum(losses).backward()\n- print(np.mean(losses))\n+ print(np.mean([loss.item() for loss in losses]))"
        ),
        id="list-that-is-differentiated",
    ),
    pytest.param(
        below_setup(
            "import numpy as np\nrows = np.zeros((8, 2))\n- rows[:] = model(x)\n+ rows[:] = model(x).detach().cpu()"
        ),
        id="slice-of-an-array",
    ),
    pytest.param(
        below_setup(
            "import matplotlib.pyplot as plt\n_, axes = plt.subplots(2, 4)\n"
            "for axis in axes.ravel():\n-     axis.imshow(x)\n+     axis.imshow(x.cpu())\n"
            "- axes[0, 1].plot(x)\n+ axes[0, 1].plot(x.cpu())\n"
            "- plt.figure().add_subplot(1, 2, 1).hist(x)\n+ plt.figure().add_subplot(1, 2, 1).hist(x.cpu())"
        ),
        id="axes-of-a-figure",
    ),
    pytest.param(
        below_setup(
            "from sklearn.metrics import f1_score\n"
            "- f1_score([0] * 8, model(x).argmax(1))\n+ f1_score([0] * 8, model(x).argmax(1).cpu())"
        ),
        id="metric",
    ),
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, loader, device):
                  self.model, self.loader, self.device = model.to(device), loader, device

              def predict(self):
                  outputs = []
                  with torch.no_grad():
                      for (x,) in self.loader:
                          outputs.append(self.model(x.to(self.device)))
        -         return torch.cat(outputs).numpy()
        +         return torch.cat(outputs).cpu().numpy()


          loader = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=2)
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Trainer(nn.Linear(4, 2), loader, device).predict()
        """,
        id="trainer-class",
    ),
    pytest.param(
        """
          import argparse

          import matplotlib.pyplot as plt

          parser = argparse.ArgumentParser()
          parser.add_argument('--cuda', action='store_true')
          args = parser.parse_args()
          net, x = nn.Linear(4, 4), torch.ones(4)
          if args.cuda:
              net, x = net.cuda(), x.cuda()
        - plt.imshow(net(x).detach().view(2, 2))
        + plt.imshow(net(x).detach().view(2, 2).cpu())
          net(x).sum().backward()
        """,
        id="cuda-under-a-flag",
    ),
    pytest.param(
        """
          import numpy as np

          net = nn.Linear(4, 3).cuda()
          losses = []
          for i in range(3):
              losses.append(net(torch.ones(2, 4).cuda())[:, i].mean())
        - first = np.sum(losses)
        + first = sum(losses)
          loss = first + net(torch.ones(2, 4).cuda()).mean()
          loss.backward()
        """,
        id="a-sum-that-is-trained",
    ),
    pytest.param(
        """
          import numpy as np

          net = nn.Linear(4, 3).cuda()
          losses = []
          for i in range(3):
        -     losses.append(net(torch.ones(2, 4).cuda())[:, i].mean())
        +     losses.append(net(torch.ones(2, 4).cuda())[:, i].mean().item())
          total = np.sum(losses)
          print(total / 3, total.item())
        """,
        id="a-sum-that-is-printed",
    ),
    pytest.param(
        """
          # In[1]:
          import numpy as np
          device = 'cuda' if torch.cuda.is_available() else 'cpu'
          # In[2]:
          noise = torch.randn(64, device=device)
          # In[3]:
        - np.save('noise.npy', noise)
        + np.save('noise.npy', noise.cpu())
        """,
        id="notebook-export",
    ),
    pytest.param(
        below_setup(
            "import numpy as np\nhistory = []\nwith torch.no_grad():\n    for _ in range(2):\n"
            "        loss = model(x).mean()\n-         history.append(loss)\n+         history.append(loss.item())\n"
            "print(np.mean(history))"
        ),
        id="numbers-of-an-epoch",
    ),
]
SILENT = [
    pytest.param(
        """
          import numpy as np

          net = nn.Linear(4, 3).cuda()
          losses = [net(torch.ones(2, 4).cuda())[:, i].mean() for i in range(3)]
          loss = np.mean(losses)
          loss.backward()
        """,
        id="a-mean-that-is-trained",
    ),
    pytest.param(
        below_setup("print(f'{x.mean():.3f}', float(x.mean()), x.tolist(), x.sum().item())"), id="reads-that-copy"
    ),
    pytest.param(
        below_setup("import numpy as np\nnp.zeros(3)[0] = x.mean()\nprint(np.prod(x.shape))"), id="only-numbers"
    ),
    pytest.param(
        below_setup("import numpy as np\nrows = np.empty(8, dtype=object)\nrows[0] = x"), id="an-object-in-an-array"
    ),
    pytest.param(
        below_setup("import numpy as np\nprint(np.fromiter(x.sum(1), dtype=np.int32), np.vsplit(x, 1))"),
        id="one-by-one",
    ),
    pytest.param(
        below_setup("import numpy as np\nprint(np.mean([float(row.sum()) for row in x]))"), id="floats-in-a-list"
    ),
    pytest.param(below_setup("p = model(x).detach().cpu().numpy()"), id="brought-back"),
    pytest.param(below_setup("p = model(x).numpy(force=True)"), id="asked-to-copy"),
    pytest.param(below_setup("from lib import load\nload().numpy()"), id="nobody-knows"),
    pytest.param(
        """
        import numpy as np


        class Meter:
            def __init__(self):
                self.values = []

            def update(self, value):
                self.values.append(value.item())

            def mean(self):
                return np.mean(self.values)


        meter = Meter()
        for _ in range(2):
            meter.update(torch.ones(4).cuda().mean())
        print(meter.mean())
        """,
        id="meter-class",
    ),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument('--device', default='cuda')
        args = parser.parse_args()
        model = nn.Linear(4, 2).to(args.device)
        data = torch.randn(8, 4)
        print(data.numpy().mean())
        model(data.to(args.device)).sum().backward()
        """,
        id="argparse-data-on-the-cpu",
    ),
    pytest.param(
        """
        # %%
        x = torch.randn(8, 4)
        target = x.argmax(1)
        # %%
        nn.Linear(4, 2).cuda()(x.cuda()).sum().backward()
        # %%
        import numpy as np
        print(np.bincount(target))
        """,
        id="notebook-export-on-the-cpu",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_what_is_read_is_brought_to_the_cpu(before_and_after, repair, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("listing", SILENT)
def test_reads_that_copy_and_values_on_the_cpu_stay(unchanged, repair, listing):
    text = unchanged(listing)

    assert repair(CODE, text) == text


@pytest.mark.parametrize("first", ["0.0", "None", "model(x).mean()"])
def test_what_may_be_a_number_gets_no_method_of_a_tensor(repair, unchanged, first):
    setup = "import sys\nimport numpy as np\n"
    program = unchanged(
        below_setup(f"{setup}loss = {first}\nif sys.argv[1:]:\n    loss = model(x).sum()\nprint(np.array([loss]))")
    )

    assert (repair(CODE, program) == program) is (first != "model(x).mean()")


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("def f(y, by=0.5):\n    return np.ceil(y * by)\nf(3.0, model(x).mean())", False),
        ("kept = []\ndef keep(y):\n    kept.append(y)\nkeep(model(x).mean())\nnp.mean(kept)", False),
        ("kept = []\ndef keep():\n    kept.append(model(x).mean())\nkeep()\nnp.mean(kept)", True),
        ("def f():\n    return list(model(x)[0])\ny = f()\nnp.argmax(y)", True),
    ],
    ids=["a-number-by-default", "stores-its-argument", "stores-a-tensor", "a-list-of-tensors"],
)
def test_what_a_caller_may_pass_as_a_number_gets_no_method_of_a_tensor(repair, unchanged, body, given):
    program = unchanged(below_setup(f"import numpy as np\n{body}"))

    after = repair(CODE, program)
    assert (after != program) is given
    assert "argmax(y.cpu())" not in after


def test_a_metric_in_another_file(files_before_and_after, repair):
    before, after = files_before_and_after(
        {
            "metrics.py": """
              import numpy as np


              def accuracy(logits, target):
            -     return np.mean(logits.argmax(1).numpy() == target.numpy())
            +     return np.mean(logits.argmax(1).cpu().numpy() == target.cpu().numpy())
            """,
            "evaluate.py": """
            import torch
            from metrics import accuracy
            from torch import nn

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = nn.Linear(4, 2).to(device)
            x, y = torch.randn(8, 4).to(device), torch.zeros(8).to(device)
            with torch.no_grad():
                print(accuracy(model(x), y))
            """,
        }
    )

    assert repair(CODE, before) == after


ARRAYS = """\
import sys

import numpy as np
import torch


def recall(history: HISTORY):
    return np.take_along_axis(history, [1], axis=-1)


batch = {name: torch.ones(3).cuda() for name in sys.argv}
print(recall(**batch))
"""


@pytest.mark.parametrize(("annotation", "found"), [("np.ndarray", 0), ("np.ndarray[str]", 0), ("torch.Tensor", 1)])
def test_a_declared_array_is_none_of_the_tensors_that_are_unpacked(tmp_path, annotation, found):
    text = ARRAYS.replace("HISTORY", annotation)
    source = SourceFile(str(tmp_path / "train.py"), text.encode(), text)

    assert len(fixpoint.check([source], Settings(select=(CODE,), root=str(tmp_path))).resolutions) == found


def test_a_split_indexes_tensors_where_they_are(repair):
    program = """\
import torch
from sklearn.model_selection import train_test_split

x, y = torch.rand(9, 3).cuda(), torch.arange(9).cuda()
x1, x2, y1, y2 = train_test_split(x, y, test_size=0.2)
z1, z2 = train_test_split(x, stratify=y)
"""
    assert repair("DEV601", program) == program.replace("stratify=y", "stratify=y.cpu()")


@pytest.mark.parametrize(
    ("read", "moved"),
    [
        ("torch.sigmoid(net.weight)", ".detach().cpu()"),
        ("scale", ".detach().cpu()"),
        ("fixed", ".cpu()"),
        ("net.weight.data", ".cpu()"),
    ],
)
def test_a_parameter_is_detached(repair, read, moved):
    text = f"""\
import numpy as np
import torch
from torch import nn

net = nn.Linear(3, 1).cuda()
scale = nn.Parameter(torch.ones(3).cuda())
fixed = nn.Parameter(torch.ones(3).cuda(), requires_grad=False)
print(np.append([1], {read}))
"""

    assert repair("DEV601", text) == text.replace(f", {read}))", f", {read}{moved}))")


def test_what_is_a_number_on_another_path_keeps_its_list_as_it_is(repair, unchanged):
    rows = "import numpy as np\np = 0.0\nif input():\n    p = x.std()\nprint(np.array([x.mean(), p]))"
    text = unchanged(below_setup(rows))

    assert repair(CODE, text) == text


@pytest.mark.parametrize(("release", "codes"), [("0.3.1", []), ("0.4.0", [CODE])])
def test_tensors_of_old_releases_made_arrays_of_themselves(tmp_path, release, codes):
    """``Tensor.__array__`` of PyTorch 0.3 returned ``self.cpu().numpy()``: torch/tensor.py."""
    (tmp_path / "README.md").write_text(f"It needs PyTorch {release}.\n")
    path = tmp_path / "train.py"
    path.write_text("import numpy as np\nimport torch\n\nprint(np.array(torch.ones(3).cuda()))\n")
    file = SourceFile(str(path), path.read_bytes(), path.read_text())

    outcome = fixpoint.check([file], Settings(root=str(tmp_path)))

    assert [each.finding.code for each in outcome.resolutions if each.finding.code == CODE] == codes
