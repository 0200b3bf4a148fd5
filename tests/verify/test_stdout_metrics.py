"""What a script prints: which lines show that a metric was lost, and which are different by nature."""

from __future__ import annotations

import pytest

from devfix.verify import prove
from devfix.verify.records import Run
from devfix.verify.stdout_metrics import describe_changed_output


def run(output: str, device: str = "cpu") -> Run:
    return Run(device, output=output)


def test_a_lost_metric_is_told_with_both_lines():
    told = describe_changed_output(run("loss 1.5\nhits [0.0, 0.0]\n", "sim"), *[run("loss 1.5\nhits [3.0, 4.0]\n")] * 2)

    assert told == "it prints `hits [0.0, 0.0]`, but the original without an accelerator prints `hits [3.0, 4.0]`"


@pytest.mark.parametrize(
    ("shown", "reference"),
    [
        pytest.param("acc 0.75\n", "acc 0.75\n", id="same"),
        pytest.param("acc 0.7501\n", "acc 0.7502\n", id="rounding"),
        pytest.param("took 3.2\n", "took 0.5\n", id="time"),
        pytest.param("Training completed in 0.01 minutes.\n", "Training completed in 0.00 minutes.\n", id="minutes"),
        pytest.param("12.5 it/s\n", "99.1 it/s\n", id="speed"),
        pytest.param("memory 3.2\n", "memory 0.0\n", id="memory"),
        pytest.param("peak 12 MB\n", "peak 0 MB\n", id="megabytes"),
        pytest.param("tensor(3., device='cuda:0')\n", "tensor(3.)\n", id="device"),
        pytest.param("using cuda:0\n", "using cpu\n", id="choice"),
        pytest.param("12:30:05 ready\n", "12:31:17 ready\n", id="clock"),
        pytest.param("a warning\nacc 0.1\n", "acc 0.9\n", id="another-line"),
        pytest.param("model8\n", "model9\n", id="a-name"),
    ],
)
def test_what_says_nothing(shown, reference):
    assert describe_changed_output(run(shown, "sim"), run(reference), run(reference)) is None


def test_numbers_that_differ_anyway_say_nothing():
    assert describe_changed_output(run("seed 3\n", "sim"), run("seed 4\n"), run("seed 5\n")) is None


def test_a_long_output_is_not_compared():
    long = "x\n" * 40_000

    assert describe_changed_output(run("acc 0.1\n" + long, "sim"), *[run("acc 0.9\n" + long)] * 2) is None


METER = """
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
hits = torch.zeros(2)
for step in range(4):
    x = torch.randn(8, 4).to(device)
    y = torch.randint(0, 2, (8,)).to(device)
    scores = model(x)
    loss = nn.functional.cross_entropy(scores, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    hits += (scores.argmax(1) == y).float().mean()[None].expand(2)
print("hits", hits.tolist())
"""


@pytest.mark.parametrize(
    ("repair", "lost"),
    [("hits = hits.to(device)\n    hits", False), ("counted = hits.to(device)\n    counted", True)],
)
def test_a_proof_tells_of_a_counter_that_counts_nothing(tmp_path, repair, lost):
    for folder, program in (("broken", METER), ("repaired", METER.replace("    hits +=", f"    {repair} +="))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.py").write_text(program)

    verdict = prove(tmp_path / "broken", tmp_path / "repaired", "train.py")

    assert verdict.status == "fixed"
    assert ("it prints `hits [0.0, 0.0]`" in verdict.reason) == lost
