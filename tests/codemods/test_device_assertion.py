"""DEV901: asked for by name, ahead of the loop, in the words of the function."""

from __future__ import annotations

import pytest

from devfix.config import Settings
from devfix.rules.registry import rule_for

CODE = "DEV901"
STEP = "model(torch.ones(3, 4, device=device)).sum().backward()"

REWRITES = [
    pytest.param(
        """
          class Trainer:
              def __init__(self, model, device):
                  self.model = model.to(device)
                  self.device = device
                  self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

              def fit(self):
        +         assert next(self.model.parameters()).device.type == self.device.type
                  for _ in range(2):
                      self.model(torch.ones(3, 4, device=self.device)).sum().backward()
                      self.optimizer.step()

          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Trainer(nn.Linear(4, 2), device).fit()
        """,
        id="in-a-method",
    ),
]

UNCHANGED = [
    pytest.param(
        f"""
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        for fold in range(2):
            model = nn.Linear(4, 2).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            {STEP}
            optimizer.step()
        """,
        id="made-in-the-loop",
    ),
    pytest.param(
        f"""
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            model.to(device)
            {STEP}
            optimizer.step()
            model.cpu()
        """,
        id="moved-in-the-loop",
    ),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_the_assertion_stands_ahead_of_the_loop(listing, before_and_after, repair):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after
    assert repair(CODE, after) == after


@pytest.mark.parametrize("listing", UNCHANGED)
def test_where_it_might_not_hold_there_is_none(listing, unchanged, repair):
    text = unchanged(listing)

    assert repair(CODE, text) == text


@pytest.mark.parametrize(("select", "asked"), [((), False), (("DEV",), False), (("DEV9",), True), ((CODE,), True)])
def test_it_is_used_only_where_it_is_named(select, asked):
    assert not rule_for(CODE).default
    assert Settings(select=select).asks_for(CODE) is asked
