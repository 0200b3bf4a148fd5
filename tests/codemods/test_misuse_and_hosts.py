"""DEV103, DEV104, DEV105, DEV402, DEV601 and DEV602 by example: what is rewritten, and what only looks like it."""

from __future__ import annotations

import pytest

SETUP = """
  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
  model = nn.Linear(4, 2).to(device)
  x = torch.randn(8, 4).to(device)
"""

REWRITES = [
    pytest.param("DEV601", "- p = model(x).numpy()\n+ p = model(x).detach().cpu().numpy()", id="gradient"),
    pytest.param("DEV601", "- p = x.data.numpy()\n+ p = x.data.cpu().numpy()", id="no-gradient"),
    pytest.param(
        "DEV601",
        "  import numpy as np\n  kept = []\n  for _ in range(2):\n-     kept.append(model(x).argmax(1))\n"
        "+     kept.append(model(x).argmax(1).cpu())\n  print(np.concatenate(kept))",
        id="list",
    ),
    pytest.param(
        "DEV601",
        "  import numpy as np\n  losses = []\n  for _ in range(2):\n      losses.append(model(x).mean())\n"
        "  sum(losses).backward()\n- print(np.mean(losses))\n+ print(np.mean([loss.item() for loss in losses]))",
        id="list-that-is-differentiated",
    ),
    pytest.param(
        "DEV601",
        "  from sklearn.metrics import f1_score\n"
        "- f1_score([0] * 8, model(x).argmax(1))\n+ f1_score([0] * 8, model(x).argmax(1).cpu())",
        id="metric",
    ),
    pytest.param(
        "DEV402",
        "- w = nn.Parameter(torch.ones(4))\n+ w = nn.Parameter(torch.ones(4).to(device))\n"
        "- v = w.to(device)\n+ v = w\n  torch.optim.SGD([v], lr=0.1)",
        id="parameter-with-a-name",
    ),
    pytest.param("DEV104", "  y = torch.ones(4)\n- y = y.to\n+ y = y.to(device)\n  print(x + y)", id="to"),
    pytest.param("DEV105", "- model.cuda(True)\n+ model.cuda()", id="flag-of-a-module"),
    pytest.param("DEV103", "  y = torch.ones(4)\n- y.to(device)\n+ y = y.to(device)\n  print(x + y)", id="statement"),
    pytest.param(
        "DEV103",
        "  parts = {'y': torch.ones(4)}\n- for v in parts.values():\n-     v.to(device)\n"
        "+ parts = {k: v.to(device) for k, v in parts.items()}\n  print(x + parts['y'])",
        id="values",
    ),
    pytest.param(
        "DEV104",
        "  def noise():\n      z = torch.randn(8, 4)\n-     return z.cuda\n+     return z.cuda()\n  model(noise())",
        id="returned",
    ),
    pytest.param(
        "DEV104",
        "  y, z = torch.ones(4), torch.ones(4)\n- y, z = y.cuda(), z.cuda\n+ y, z = y.cuda(), z.cuda()\n  print(x + z)",
        id="one-of-two",
    ),
    pytest.param(
        "DEV104",
        "  y = torch.ones(4)\n- y = y.detach().cuda.requires_grad_()\n+ y = y.detach().cuda().requires_grad_()\n"
        "  print(x + y)",
        id="in-a-chain",
    ),
    pytest.param(
        "DEV104",
        "  parts = {'a': torch.ones(4)}\n- parts = {k: v.cuda for k, v in parts.items()}\n"
        "+ parts = {k: v.cuda() for k, v in parts.items()}\n  print(x + parts['a'])",
        id="of-each-item",
    ),
    pytest.param(
        "DEV104",
        "- net = nn.Linear(4, 2).cuda if torch.cuda.is_available() else nn.Linear(4, 2)\n"
        "+ net = nn.Linear(4, 2).cuda() if torch.cuda.is_available() else nn.Linear(4, 2)\n  print(net(x))",
        id="of-a-new-module",
    ),
    pytest.param(
        "DEV105",
        "  y = torch.ones(4)\n- y = y.cuda(True)\n+ y = y.cuda(non_blocking=True)",
        id="flag",
    ),
    pytest.param(
        "DEV402",
        "- w = nn.Parameter(torch.ones(4)).to(device)\n+ w = nn.Parameter(torch.ones(4).to(device))\n"
        "  torch.optim.SGD([w], lr=0.1)",
        id="parameter",
    ),
    pytest.param(
        "DEV402",
        "- delta = (torch.rand(4) - 0.5).requires_grad_().to(device)\n"
        "+ delta = (torch.rand(4) - 0.5).to(device).requires_grad_()\n  torch.optim.SGD([delta], lr=0.1)",
        id="asked-for-its-gradient-too-soon",
    ),
]
SILENT = [
    pytest.param("w = torch.ones(4)\n(x * w.requires_grad_().to(device)).sum().backward()\nw.grad", id="asked-leaf"),
    pytest.param("print(f'{x.mean():.3f}', float(x.mean()), x.tolist(), x.sum().item())", id="reads-that-copy"),
    pytest.param("import numpy as np\nnp.zeros(3)[0] = x.mean()\nprint(np.prod(x.shape))", id="numbers"),
    pytest.param("import numpy as np\nprint(np.mean([float(row.sum()) for row in x]))", id="floats-in-a-list"),
    pytest.param("y = torch.ones(4)\ny.to(device)\nprint(y + 1)", id="dropped-without-consequence"),
    pytest.param("for t in [torch.ones(4)]:\n    t = t.to(device)\n    print(x + t)", id="moved-and-used"),
    pytest.param("send = x.cpu\nprint(send())", id="bound-method"),
    pytest.param("ways = x.cpu, x.cuda\nprint([way() for way in ways], x.cpu.__name__)", id="bound-methods"),
    pytest.param(
        "w = torch.ones(4, requires_grad=True)\n(x * w.to(device)).sum().backward()\nw.grad", id="leaf-on-cpu"
    ),
    pytest.param("send = x.to\nprint(send(device))", id="bound-to"),
    pytest.param(
        "w = nn.Parameter(torch.ones(4))\nif torch.cuda.is_available():\n    v = w.cuda()\n    print(v.sum())",
        id="parameter-read-on-the-device",
    ),
    pytest.param("x.cuda(0)\nmodel.cuda(None)\nx.cuda(non_blocking=True)", id="flag-by-its-name"),
    pytest.param("from lib import load\nload().numpy()", id="unknown"),
]


def listing(body):
    return SETUP + "\n".join(row if row[:2] in ("- ", "+ ", "  ") else f"  {row}" for row in body.splitlines()) + "\n"


@pytest.mark.parametrize(("code", "body"), REWRITES)
def test_the_edit_is_the_one_that_an_author_would_make(before_and_after, repair, code, body):
    before, after = before_and_after(listing(body))

    assert repair(code, before) == after


@pytest.mark.parametrize("body", SILENT)
@pytest.mark.parametrize("code", ["DEV103", "DEV104", "DEV105", "DEV402", "DEV601", "DEV602"])
def test_what_is_right_stays(unchanged, repair, code, body):
    text = unchanged(listing(body))

    assert repair(code, text) == text
