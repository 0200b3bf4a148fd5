"""DEV402 by example: leaves whose copies are used as leaves, and leaves that may be moved."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity
from devfix.sources import SourceFile

CODE = "DEV402"
REWRITES = [
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - w = nn.Parameter(torch.ones(4)).to(device)
        + w = nn.Parameter(torch.ones(4).to(device))
          torch.optim.SGD([w], lr=0.1)
        """,
        id="flat",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


          class Scale(nn.Module):
              def __init__(self, dim):
                  super().__init__()
        -         self.weight = nn.Parameter(torch.ones(dim), requires_grad=True).to(device)
        +         self.weight = nn.Parameter(torch.ones(dim).to(device), requires_grad=True)

              def forward(self, x):
                  return x * self.weight


          model = Scale(4)
          torch.optim.SGD(model.parameters(), lr=0.1)
          model(torch.ones(4).to(device)).sum().backward()
        """,
        id="in-a-module",
    ),
    pytest.param(
        """
          import argparse

          parser = argparse.ArgumentParser()
          parser.add_argument('--device', default='cuda')
          args = parser.parse_args()
        - delta = torch.zeros(3, 4, requires_grad=True).to(args.device)
        + delta = torch.zeros(3, 4, requires_grad=True, device=args.device)
          optimizer = torch.optim.Adam([delta], lr=0.01)
          for _ in range(10):
              optimizer.zero_grad()
              delta.pow(2).sum().backward()
              optimizer.step()
        """,
        id="argparse",
    ),
    pytest.param(
        """
        - w = torch.randn(4, requires_grad=True).cuda()
        + w = torch.randn(4).cuda().requires_grad_()
          loss = (w * torch.ones(4).cuda()).sum()
          loss.backward()
          print(w.grad)
        """,
        id="random-and-its-gradient",
    ),
    pytest.param(
        """
          class Attack:
              def __init__(self, model, device):
                  self.model, self.device = model.to(device), device

              def run(self, x):
                  x = x.to(self.device)
        -         noise = torch.zeros(4, requires_grad=True).to(self.device)
        +         noise = torch.zeros(4, requires_grad=True, device=self.device)
                  self.model(x + noise).sum().backward()
                  return noise.grad.sign()


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          print(Attack(nn.Linear(4, 2), device).run(torch.ones(4)))
        """,
        id="trainer-class",
    ),
    pytest.param(
        """
          # In[1]:
          device = 'cuda' if torch.cuda.is_available() else 'cpu'
          # In[2]:
        - w = torch.ones(4, requires_grad=True)
        + w = torch.ones(4, requires_grad=True, device=device)
          w = w.to(device)
          # In[3]:
          optimizer = torch.optim.SGD([w], lr=0.1)
          (w * 2).sum().backward()
        """,
        id="notebook-export",
    ),
    pytest.param(
        """
          use_cuda = torch.cuda.is_available()
          if use_cuda:
        -     w = nn.Parameter(torch.ones(4) * 2).cuda()
        +     w = nn.Parameter((torch.ones(4) * 2).cuda())
          else:
              w = nn.Parameter(torch.ones(4) * 2)
          optimizer = torch.optim.SGD([w], lr=0.1)
          w.sum().backward()
          optimizer.step()
        """,
        id="cuda-under-a-flag",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - w = nn.Parameter(torch.ones(4))
        + w = nn.Parameter(torch.ones(4).to(device))
        - v = w.to(device)
        + v = w
          torch.optim.SGD([v], lr=0.1)
        """,
        id="a-parameter-with-a-name",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - delta = (torch.rand(4) - 0.5).requires_grad_().to(device)
        + delta = (torch.rand(4) - 0.5).to(device).requires_grad_()
          torch.optim.SGD([delta], lr=0.1)
        """,
        id="asked-for-its-gradient-too-soon",
    ),
]
SETUP = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(8, 4).to(device)
"""
SILENT = [
    pytest.param(
        SETUP + "w = torch.ones(4, requires_grad=True)\n(x * w.to(device)).sum().backward()\nprint(w.grad)\n",
        id="the-leaf-is-on-the-cpu",
    ),
    pytest.param(
        SETUP + "w = nn.Parameter(torch.ones(4).to(device))\ntorch.optim.SGD([w], lr=0.1)\n(x * w).sum().backward()\n",
        id="moved-before",
    ),
    pytest.param(
        SETUP + "w = torch.ones(4, device=device, requires_grad=True)\n(x * w).sum().backward()\nprint(w.grad)\n",
        id="made-there",
    ),
    pytest.param(
        SETUP + "w = torch.ones(4).to(device).requires_grad_()\n(x * w).sum().backward()\nprint(w.grad)\n",
        id="a-leaf-afterwards",
    ),
    pytest.param(
        SETUP + "w = torch.ones(4, requires_grad=True).to(device)\n(x * w).sum().backward()\nprint(w.mean())\n",
        id="a-copy-that-nobody-asks",
    ),
    pytest.param(
        """
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(4))

            def forward(self, x):
                return x * self.weight.to(x.device)


        model = Scale()
        torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(4).cuda()).sum().backward()
        """,
        id="a-module-that-moves-its-copy",
    ),
    pytest.param(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument('--device', default='cuda')
        args = parser.parse_args()
        w = torch.ones(4, requires_grad=True).to(args.device).detach().requires_grad_()
        torch.optim.SGD([w], lr=0.1)
        w.sum().backward()
        """,
        id="argparse-detached",
    ),
    pytest.param(
        """
        class Layer(nn.Module):
            \"\"\"The threshold is `self.threshold`.\"\"\"

            def __init__(self):
                super().__init__()
                self.threshold = nn.Parameter(torch.tensor(30.0)).to("cuda")

            def forward(self, x):
                return 2 * x

        Layer()(torch.ones(3).cuda())
        """,
        id="an-attribute-that-nothing-reads",
    ),
    pytest.param(
        SETUP + "w = torch.ones(4)\n(x * w.requires_grad_().to(device)).sum().backward()\nw.grad\n",
        id="asked-for-its-gradient-on-the-cpu",
    ),
    pytest.param(
        "w = nn.Parameter(torch.ones(4))\nif torch.cuda.is_available():\n    v = w.cuda()\n    print(v.sum())\n",
        id="a-parameter-that-is-read-on-the-device",
    ),
    pytest.param(
        SETUP + "w = torch.ones(4, requires_grad=True).to(device)\nw.retain_grad()\n"
        "(x * w).sum().backward()\nprint(w.grad)\n",
        id="a-copy-that-keeps-its-gradient",
    ),
    pytest.param(
        SETUP + "w = nn.Parameter(torch.ones(4)).to(device)\nv = w.data.requires_grad_()\n"
        "torch.optim.SGD([v], lr=0.1)\n(x * v).sum().backward()\n",
        id="the-data-of-a-copy",
    ),
    pytest.param(
        "# %%\nw = torch.ones(4, requires_grad=True).to('cpu')\n# %%\ntorch.optim.SGD([w], lr=0.1)\n",
        id="notebook-export-on-the-cpu",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_the_leaf_is_made_on_the_device(before_and_after, repair, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("listing", SILENT)
def test_a_copy_that_is_used_as_one_stays(unchanged, repair, listing):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_a_layer_in_another_file(files_before_and_after, repair):
    before, after = files_before_and_after(
        {
            "layers.py": """
              import torch
              from torch import nn


              class Scale(nn.Module):
                  def __init__(self, dim, device):
                      super().__init__()
            -         self.gain = nn.Parameter(torch.ones(dim)).to(device)
            +         self.gain = nn.Parameter(torch.ones(dim).to(device))

                  def forward(self, x):
                      return x * self.gain
            """,
            "train.py": """
            import torch
            from layers import Scale

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            model = Scale(4, device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.ones(4, device=device)).sum().backward()
            optimizer.step()
            """,
        }
    )

    assert repair(CODE, before) == after


def test_an_attribute_that_gets_tensors_later_is_reported_without_a_fix(tmp_path):
    text = """
import torch
from torch import nn


class Normalizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4)).to("cuda")
        self.mean = nn.Parameter(torch.zeros(4), requires_grad=False).to("cuda")

    def update(self, x):
        self.scale = x.std(0)
        self.mean.mul_(0.9).add_(x.mean(0))
        return x / self.scale


Normalizer().update(torch.ones(2, 4).to("cuda"))
"""
    source = SourceFile(str(tmp_path / "train.py"), text.encode(), text)

    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    scale, mean = (each.finding for each in outcome.resolutions)
    assert (scale.severity, scale.fixes) == (Severity.ERROR, ())
    assert scale.reason == "line 13 assigns something else to the attribute, which a registered parameter rejects"
    assert (mean.severity, len(mean.fixes)) == (Severity.LATENT, 1)  # training is right; the state dict lacks it
