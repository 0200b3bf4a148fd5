"""DEV811 with other accelerators: a name of a CUDA tensor type becomes one of the CPU, and what it makes is moved."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.model import PortTargets
from devfix.sources import SourceFile

HEAD = "import torch\nfrom torch import nn\nimport numpy as np\n"
AVAILABLE = "torch.cuda.is_available() or torch.backends.mps.is_available()"
DECLARED = (
    'device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() '
    'else "cpu")\n'
)
PROGRAM = """
cuda = {query}
Tensor = {floats}
Labels = {labels}
model = nn.Linear(4, 2)
if cuda:
    model{move}
z = Tensor(np.random.normal(0, 1, (3, 4))){made}
ones = Tensor(3, 2){made}.fill_(1.0)
print(model(z) - ones, torch.rand(3){typed}, Labels([1, 2]){made})
"""
BEFORE = HEAD + PROGRAM.format(
    query="torch.cuda.is_available()",
    floats="torch.cuda.FloatTensor if cuda else torch.FloatTensor",
    labels="torch.cuda.LongTensor if cuda else torch.LongTensor",
    move=".cuda()",
    made="",
    typed=".type(Tensor)",
)
AFTER = (
    HEAD
    + DECLARED
    + PROGRAM.format(
        query=AVAILABLE,
        floats="torch.FloatTensor",
        labels="torch.LongTensor",
        move=".to(device)",
        made=".to(device)",
        typed=".to(device, torch.float32)",
    )
)
CHOSEN = "Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor\n"


def ported(folder, text: str, targets: PortTargets | None = None):
    path = folder / "train.py"
    path.write_text(text)
    settings = Settings(select=("DEV811",), root=str(folder), targets=targets or PortTargets(("cpu", "cuda", "mps")))
    outcome = fixpoint.apply([SourceFile(str(path), text.encode(), text)], settings)
    assert outcome.problems == ()
    return next((change.new.decode() for change in outcome.patch.files), text), outcome


def test_the_name_and_all_its_uses_change_together(tmp_path):
    assert ported(tmp_path, BEFORE)[0] == AFTER
    assert ported(tmp_path, AFTER)[0] == AFTER


def test_without_other_accelerators_the_choice_stays(tmp_path):
    assert ported(tmp_path, BEFORE, PortTargets())[0] == BEFORE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("cuda = torch.cuda.is_available()\n" + CHOSEN + "y = Tensor(x)\n", id="it-may-get-a-tensor"),
        pytest.param("cuda = torch.cuda.is_available()\n" + CHOSEN + "y = f(Tensor)\n", id="it-is-passed-on"),
        pytest.param(
            "cuda = torch.cuda.is_available() and not args.cpu\n" + CHOSEN + "y = Tensor(3)\n", id="an-option"
        ),
        pytest.param(
            "cuda = True if torch.cuda.is_available() and not args.cpu else False\n" + CHOSEN + "y = Tensor(3)\n",
            id="an-option-in-words",
        ),
        pytest.param(
            "from torch import Tensor\ncuda = torch.cuda.is_available()\n" + CHOSEN + "y = Tensor(3)\n", id="an-import"
        ),
        pytest.param(
            "cuda = torch.cuda.is_available()\n" + CHOSEN.replace("Float", "Double") + "y = Tensor(3)\n", id="float64"
        ),
        pytest.param(
            "cuda = torch.cuda.is_available()\n" + CHOSEN + "y = x.type(Tensor, non_blocking=True)\n",
            id="more",
        ),
    ],
)
def test_other_names_stay_and_so_does_the_condition(text, tmp_path):
    text = HEAD + text + "if cuda:\n    x = x.cuda()\n"

    after, outcome = ported(tmp_path, text)

    assert after == text
    assert all(each.reason for each in outcome.resolutions)
    assert outcome.resolutions
