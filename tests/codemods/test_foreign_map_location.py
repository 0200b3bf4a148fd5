"""DEV302 by example: checkpoints at a place where the program cannot use them."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import Severity
from devfix.sources import SourceFile

CODE = "DEV302"

REWRITES = [
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
        - state = torch.load("a.pt", map_location="cuda")
        + state = torch.load("a.pt", map_location=device)
          model.load_state_dict(state)
        """,
        id="insists-on-an-accelerator",
    ),
    pytest.param(
        """
          from safetensors.torch import load_file

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          x = torch.ones(3, 4, device=device)
        - table = load_file("table.safetensors")["weight"]
        + table = load_file("table.safetensors", device=str(device))["weight"]
          print(torch.mm(x, table))
        """,
        id="safetensors",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          model = nn.Linear(4, 2).to(device)
          blob = torch.load("a.pt", map_location="cpu")
          model.load_state_dict(blob["model"])
          weight = blob["weight"]
          logits = model(torch.ones(3, 4).to(device))
        - nn.functional.cross_entropy(logits, torch.zeros(3).long().to(device), weight)
        + nn.functional.cross_entropy(logits, torch.zeros(3).long().to(device), weight.to(device))
        """,
        id="of-a-checkpoint-what-is-used",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          weight = torch.ones(3, 4, device=device)
        - moments = torch.load("moments.pt", map_location="cpu")
        + moments = torch.load("moments.pt", map_location=device)
          moments["first"].mul_(0.9).add_(weight)
        """,
        id="written-in-place",
    ),
    pytest.param(
        """
          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          pixels = torch.rand(2, 3, 8, 8, device=device)
        - norm = torch.load("norm.pt", map_location="cpu")
        + norm = torch.load("norm.pt", map_location=device)
          mean, std = norm["mean"].view(1, 3, 1, 1), norm["std"].view(1, 3, 1, 1)
          print(((pixels - mean) / std).sum())
        """,
        id="an-entry-with-a-shape",
    ),
    pytest.param(
        """
          from safetensors import safe_open

          device = "cuda" if torch.cuda.is_available() else "cpu"
          x = torch.ones(3, 4, device=device)
        - with safe_open("table.safetensors", framework="pt") as f:
        + with safe_open("table.safetensors", framework="pt", device=device) as f:
              table = f.get_tensor("weight")
          print(x @ table)
        """,
        id="opened-file",
    ),
]

NEVER_MOVED = """
class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.load("net.pt", map_location="cpu", weights_only=False)

    def forward(self, x):
        return self.net(x)

Coder()(torch.ones(3, 4).cuda())
"""

UNCHANGED = [
    pytest.param(
        'device = "cuda" if torch.cuda.is_available() else "cpu"\nmodel = nn.Linear(4, 2)\n'
        'model.load_state_dict(torch.load("a.pt", map_location="cpu"))\nmodel.to(device)',
        id="fills-a-module",
    ),
    pytest.param(
        'model = nn.Linear(4, 2).to("cuda:1")\nmodel.load_state_dict(torch.load("a.pt", map_location="cuda:1"))',
        id="its-own-index",
    ),
    pytest.param(
        'model = nn.Linear(4, 2).cuda()\nmodel.load_state_dict(torch.load("a.pt", map_location="cuda"))',
        id="always-cuda",
    ),
    pytest.param(
        'rank = 0\nmodel = nn.Linear(4, 2).cuda(rank)\nstate = torch.load("a.pt", map_location=f"cuda:{rank}")\n'
        "model.load_state_dict(state)",
        id="rank",
    ),
    pytest.param(
        'teacher = torch.load("t.pt", map_location=lambda storage, loc: storage)\nteacher = teacher.cuda()\n'
        "teacher(torch.ones(3, 4).cuda())",
        id="moved-afterwards",
    ),
    pytest.param(
        'import os\ndevice = torch.device("cuda")\nif os.path.exists("t.pt"):\n'
        '    teacher = torch.load("t.pt", map_location="cpu")\n'
        "else:\n    teacher = nn.Linear(4, 2)\nteacher.to(device)\nteacher(torch.ones(3, 4).to(device))",
        id="moved-in-place-whichever-of-two-it-is",
    ),
    pytest.param(
        """
        class Coder(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = torch.load("net.pt", map_location="cpu", weights_only=False)

            def forward(self, x):
                return self.net.last_layer(self.net(x).float())

        nn.Sequential(Coder(), nn.Linear(4, 2)).cuda()(torch.ones(3, 4).cuda())
        """,
        id="moved-with-the-module-that-holds-it",
    ),
    pytest.param(
        """
        import sys

        def choose(name):
            if name == "cpu":
                return torch.device("cpu")
            return torch.device("cuda")

        def run(device):
            model = torch.load("model.pt", map_location="cpu", weights_only=False)["model"].to(device)
            x = torch.ones(3, 3)
            if device.type != "cpu":
                x = x.to(device)
            print(model(x))

        run(choose(sys.argv[1]))
        """,
        id="moved-to-one-of-two-devices",
    ),
    pytest.param(
        'x = torch.ones(3, 4).cuda()\nstate = torch.load("s.pt", map_location="cpu")\nprint(x * state["temperature"])',
        id="may-be-a-number",
    ),
    pytest.param(
        """
        from safetensors import safe_open

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2).to(device)
        with safe_open("table.safetensors", framework="pt") as f:
            state = {key: f.get_tensor(key) for key in f.keys()}
        model.load_state_dict(state)
        print(state["weight"].numpy(), state["bias"].to(device) + model.bias)
        """,
        id="opened-file-for-a-module",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_a_checkpoint_goes_where_it_is_used(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", UNCHANGED)
def test_a_checkpoint_that_is_right_stays(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


def test_an_entry_that_may_be_a_number_is_only_a_latent_finding(tmp_path):
    text = (
        "import torch\n\nx = torch.ones(3, 4).cuda()\n"
        'state = torch.load("s.pt", map_location="cpu")\nprint(x * state["temperature"])\n'
    )
    source = SourceFile(str(tmp_path / "train.py"), text.encode(), text)

    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    assert [(r.finding.severity, r.finding.span.line) for r in outcome.resolutions] == [(Severity.LATENT, 4)]


RESUMED = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def epoch(net, rows, centre):
    for row in rows:
        {used}


def main(rows):
    net = nn.Linear(4, 4).to(device)
    centre = {made}
    epoch(net, rows, centre)
    torch.save({{"net": net.state_dict(), "centre": {saved}, "number": 3}}, "last.pt")
    found = torch.load("last.pt", map_location="cpu")
    net.load_state_dict(found["net"])
    {taken}


main(torch.rand(8, 4))
"""
USED = "net(row.to(device) - centre).sum().backward()"
MADE = "torch.rand(4).to(device)"
TAKEN = 'centre = found["centre"]\n    epoch(net, rows, centre)'


def resumed(used=USED, made=MADE, saved="centre", taken=TAKEN):
    return "import torch\nfrom torch import nn\n" + RESUMED.format(used=used, made=made, saved=saved, taken=taken)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(resumed(), id="subtracted"),
        pytest.param(resumed(used="(net(row.to(device)) * centre).sum().backward()"), id="factor"),
        pytest.param(resumed(saved="centre.clone()"), id="copied"),
        pytest.param(resumed(made="torch.rand(9, 4).to(device).mean(0)"), id="statistics"),
        pytest.param(resumed(saved="centre.cpu()"), id="saved-from-the-host"),
    ],
)
def test_an_entry_that_the_program_saves_as_a_tensor_is_moved_where_it_is_read(repair, text):
    assert repair("DEV302", text) == text.replace('found["centre"]', 'found["centre"].to(device)')


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(resumed(taken=TAKEN.replace('["centre"]', '["centre"].to(device)')), id="moved"),
        pytest.param(resumed(taken=TAKEN.replace("rows, centre", "rows, centre.to(device)")), id="moved-when-given"),
        pytest.param(resumed(made="torch.tensor(0.5)"), id="without-dimensions"),
        pytest.param(resumed(made="0.5"), id="number"),
        pytest.param(resumed(saved="centre.mean().item()"), id="saved-as-a-number"),
        pytest.param(resumed(taken='print(found["centre"].numpy() - 1)'), id="for-numpy"),
        pytest.param(resumed(used="net(row.to(device) - centre.to(device)).sum().backward()"), id="moved-at-use"),
    ],
)
def test_an_entry_that_may_stay_is_left(repair, text):
    assert repair("DEV302", text) == text


def test_a_loaded_module_whose_owner_never_moves_stays_on_the_cpu(tmp_path):
    text = "import torch\nfrom torch import nn\n" + NEVER_MOVED
    source = SourceFile(str(tmp_path / "train.py"), text.encode(), text)

    outcome = fixpoint.check([source], Settings(select=(CODE,), root=str(tmp_path)))

    assert [r.finding.span.line for r in outcome.resolutions] == [7]


@pytest.mark.parametrize(("net", "level"), [("Net().cuda()", Severity.LATENT), ("Net()", Severity.ERROR)])
def test_a_load_in_a_program_that_fails_before_without_an_accelerator_is_no_error(tmp_path, net, level):
    program = f"""\
import torch
from nets import Net

def make():
    return {net}

head = torch.nn.Linear(4, 2)
if torch.cuda.is_available():
    head.cuda()
net = make()
head.load_state_dict(torch.load("a.pt", map_location="cuda"))
"""
    source = SourceFile(str(tmp_path / "train.py"), program.encode(), program)
    outcome = fixpoint.check([source], Settings(select=(CODE,), severity=Severity.LATENT, root=str(tmp_path)))

    assert [r.finding.severity for r in outcome.resolutions] == [level]


def test_a_parameter_that_decides_is_not_replaced_by_itself(tmp_path):
    text = """\
import torch
from torch import nn


def restored(path, device="cuda"):
    model = nn.Linear(4, 2).to(device)
    model.load_state_dict(torch.load(path, map_location=device))
    return model


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = restored("a.pt").to(device)
print(model(torch.ones(3, 4, device=device)))
"""
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    file = SourceFile(str(path), text.encode(), text)

    (resolution,) = fixpoint.check([file], Settings(root=str(tmp_path))).resolutions

    assert (resolution.finding.code, resolution.finding.span.line) == ("DEV501", 6)
