"""What a function returns from one device or another as the lot falls, once calls of it are joined."""

from __future__ import annotations

import pytest

ACT = """
import random
import numpy as np
device = torch.device("cuda")
net = nn.Linear(3, 2).to(device)

def act(state, chance=0.1):
{body}

taken = []
for step in range(9):
    taken.append(act(torch.ones(1, 3, device=device)))
{last}
"""
GREEDY = "net(state).argmax(1)"
LOT = "torch.tensor([random.randrange(2)])"


def program(test, chosen, otherwise, last="joined = torch.cat(taken)", first="pass"):
    body = f"    {first}\n    if {test}:\n        return {chosen}\n    return {otherwise}"
    return ACT.format(body=body, last=last)


@pytest.mark.parametrize(
    ("test", "first"),
    [
        pytest.param("random.random() > chance", "pass", id="random"),
        pytest.param("np.random.rand() >= chance", "pass", id="numpy"),
        pytest.param("chance < sample", "sample = random.random()", id="name"),
        pytest.param("torch.rand(1).item() > chance", "pass", id="torch"),
        pytest.param("np.random.uniform(0, 1) > chance", "pass", id="uniform"),
    ],
)
def test_these_meet_when_they_are_joined(met, test, first):
    assert met(program(test, GREEDY, LOT, first=first)) == ["joined = torch.cat(taken)"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(program("random.random() > chance", GREEDY, f"{LOT}.to(device)"), id="both-there"),
        pytest.param(program("random.random() > chance", GREEDY, LOT, "print(len(taken))"), id="never-joined"),
        pytest.param(program("random.random() > chance", GREEDY, LOT, "print(taken[0].item())"), id="read-one-by-one"),
        pytest.param(program("random.random() > chance", f"{GREEDY}.cpu()", LOT), id="both-on-the-host"),
        pytest.param(program("unknown_flag", GREEDY, LOT), id="a-flag-decides"),
        pytest.param(program("chance > 0", GREEDY, LOT), id="a-parameter-decides"),
        pytest.param(
            program("random.random() > chance", GREEDY, LOT, "joined = torch.cat([t.to(device) for t in taken])"),
            id="moved-before",
        ),
    ],
)
def test_these_do_not(met, text):
    assert met(text) == []
