"""The pairs of the port benchmark are complete, and the benchmark measures a made-up pair."""

import ast
import re
import subprocess

import pytest

from benchmarks.port.catalogue import DRIVERS, STUBS, Pair, neutral, pairs
from benchmarks.port.places import count_places
from benchmarks.port.tables import markdown, totals
from benchmarks.port.trial import measure

ALL = list(pairs())

LEGACY = """
import torch
from torch import nn

class Loss(nn.Module):
    def forward(self, x):
        return (x - torch.ones(4).cuda()).pow(2).mean()
"""
DRIVER = """
import torch
from loss import Loss
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = Loss()(model(torch.rand(2, 3).cuda()))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("pair", ALL, ids=lambda pair: pair.name)
def test_a_pair_is_complete(pair):
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", pair.repository)
    assert re.fullmatch(r"[0-9a-f]{40}", pair.before)
    assert re.fullmatch(r"([0-9a-f]{40})?", pair.after)
    assert pair.style and pair.files
    driver = pair.driver.read_text(encoding="utf-8")
    ast.parse(driver)
    assert not pair.after or count_places(neutral(driver)) == 0


def test_names_are_unique_and_each_driver_belongs_to_a_pair():
    names = [pair.name for pair in ALL]
    assert sorted(names) == sorted(path.stem for path in DRIVERS.glob("*.py"))


@pytest.mark.parametrize("path", list(STUBS.glob("*.py")), ids=lambda path: path.stem)
def test_a_stub_compiles(path):
    ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("x.cuda()", 1),
        ("x = y.cuda() if args.cuda else y", 0),
        ("if torch.cuda.is_available():\n    x.cuda()", 0),
        ("if x.device != torch.device('cuda'):\n    x = x.to(torch.device('cuda'))", 1),
        ("torch.zeros(3, device='cuda:1')", 1),
        ("print('cuda')", 0),
        ("torch.cuda.FloatTensor(3)", 1),
        ("torch.cuda.synchronize()", 1),
        ("torch.cuda.manual_seed(0)", 0),
        ("device = 'cuda' if torch.cuda.is_available() else 'cpu'", 0),
        ("def f(device='cuda'): pass", 1),
        ("x.cuda(async=True)", 0),
    ],
)
def test_places_that_fail_without_cuda_are_counted(code, count):
    assert count_places(code) == count


def _commit(folder, message):
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", message], check=True)
    done = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_made_up_pair_is_ported_proved_and_compared(tmp_path, monkeypatch):
    repository = tmp_path / "mirrors" / "someone+something" / "repo"
    repository.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "loss.py").write_text(LEGACY)
    before = _commit(repository, "before")
    (repository / "loss.py").write_text(LEGACY.replace(".cuda()", ".to(x.device)"))
    after = _commit(repository, "after")
    (tmp_path / "made.py").write_text(DRIVER)
    monkeypatch.setenv("DEVFIX_MIRRORS", str(tmp_path / "mirrors"))
    monkeypatch.setattr("benchmarks.port.catalogue.DRIVERS", tmp_path)
    pair = Pair("made", "someone/something", before, after, "a loss", ("loss.py",))

    trial = measure(pair, tmp_path / "work", devices=("cpu",))

    assert trial.is_proved
    assert trial.places == {"before": 1, "devfix": 0, "maintainers": 0}
    assert trial.losses == 3
    assert trial.runs["maintainers"] == {"cpu": "ok"}
    assert totals([(pair, trial)]).startswith("1 of 1 programs are ported and proved (100 %)")
    assert "made: a loss (someone/something)" in markdown([(pair, trial)], "2.0", ())
