"""The repair by running, on a small training script: what it finds, what it costs, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.trace.repair.attempts import Budget
from devfix.trace.repair.search import Repair, repair
from devfix.verify.experiment import prepare

TRAIN = """\
import torch
from torch import nn
torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(3, (32,)))
for x, y in torch.utils.data.DataLoader(data, batch_size=8):
    x = x.to(device)
    y = y.to(device)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
#: Reading does not follow a name that is computed, so only the run knows.
HIDDEN = TRAIN.replace("    y = y.to(device)\n", '    y = globals()["".join("y")]\n')


def repaired(folder: Path, text: str, budget: Budget | None = None, **others: str) -> tuple[Repair, str]:
    for name, content in {"train.py": text, **others}.items():
        (folder / name).write_text(content)
    before = {path: path.read_bytes() for path in folder.rglob("*.py")}
    experiment = prepare(str(folder / "train.py"), device="sim", folder=str(folder), cwd=str(folder))
    found = repair(experiment, budget=budget or Budget())
    assert {path: path.read_bytes() for path in folder.rglob("*.py")} == before  # nothing is written
    return found, found.changes.get("train.py", text.encode()).decode()


def test_what_is_found_is_proved_and_takes_two_runs(tmp_path: Path) -> None:
    found, text = repaired(tmp_path, HIDDEN)

    assert found.repaired and found.runs == 2, found
    assert [line for line in text.splitlines() if line not in HIDDEN.splitlines()] == ["    y = y.to(device)"], text
    assert found.steps[0].diagnosis.rule == "DEV101"


def test_an_optimizer_that_was_built_too_early_is_built_later(tmp_path: Path) -> None:
    early = TRAIN.replace("model.to(device)\noptimizer", "optimizer").replace(
        "data =", "from placing import place\nplace(model, device)\ndata ="
    )
    placing = (
        "from torch import nn\n"
        "def place(module, device):\n"
        "    for part in module:\n"
        "        for name, value in list(part._parameters.items()):\n"
        "            part._parameters[name] = nn.Parameter(value.detach().to(device))\n"
    )

    found, text = repaired(tmp_path, early, **{"placing.py": placing})

    assert found.repaired, found.reason
    assert text.index("place(model, device)") < text.index("optimizer = torch")
    assert "hold all parameters" in found.steps[0].diagnosis.cause.sentence


@pytest.mark.parametrize("line", ["raise KeyError('lr')", "import a_package_that_is_not_there"])
def test_another_failure_is_left_alone_with_one_line(tmp_path: Path, line: str) -> None:
    found, text = repaired(tmp_path, TRAIN.replace("data =", f"{line}\ndata ="))

    assert (found.repaired, found.runs, text) == (False, 1, TRAIN.replace("data =", f"{line}\ndata ="))
    assert found.reason.startswith("the script did not finish: ")
    assert len(found.reason.splitlines()) == 1


def test_the_number_of_runs_is_bounded(tmp_path: Path) -> None:
    found, text = repaired(tmp_path, HIDDEN, Budget(runs=1))

    assert (found.repaired, found.runs, text) == (False, 1, HIDDEN)
    assert "within 1 run" in found.reason


@pytest.mark.thorough
def test_a_run_that_hangs_ends_with_the_seconds_that_are_left(tmp_path: Path) -> None:
    waiting = HIDDEN.replace("    loss =", "    import time; time.sleep(600)\n    loss =")

    found, text = repaired(tmp_path, waiting, Budget(seconds=1.0))

    assert (found.repaired, text) == (False, waiting)
    assert found.reason == "the script did not finish: stopped by the time limit"


def test_an_interrupt_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    def interrupted(line: str) -> None:
        if line.startswith("trying"):
            raise KeyboardInterrupt

    (tmp_path / "train.py").write_text(HIDDEN)
    experiment = prepare(str(tmp_path / "train.py"), device="sim", folder=str(tmp_path), cwd=str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        repair(experiment, report=interrupted)

    assert (tmp_path / "train.py").read_text() == HIDDEN
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["train.py"]
