"""DEV202 by example: which attributes become buffers, where they are registered, and what is moved where it is used."""

from __future__ import annotations

import pytest

from .listings import listings

CODE = "DEV202"

NET = """
  class Net(nn.Module):
      def __init__(self, n=4):
{init}
      def forward(self, x):
{use}

  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
  net = Net().to(device)
  net(torch.ones(2, 4, device=device))
"""
FC = "          self.fc = nn.Linear(n, n)"
SUPER = "          super().__init__()"


def net(init: str, use: str) -> str:
    """A module's listing: marks stand in the first column, as in every listing."""
    return NET.format(init=init.strip("\n"), use=use.strip("\n"))


@pytest.mark.parametrize("listing", listings("tensor_attribute", "repaired"))
def test_an_attribute_goes_with_its_module_or_to_what_it_meets(before_and_after, repair, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("listing", listings("tensor_attribute", "repaired"))
def test_a_second_run_changes_nothing(before_and_after, repair, listing):
    _, after = before_and_after(listing)

    assert repair(CODE, after) == after


UNCHANGED = [
    pytest.param("self.mask = torch.tensor(0.5)", "self.fc(x) * self.mask", id="scalar"),
    pytest.param("self.mask = torch.ones(n)", "self.fc(x) * self.mask.to(x)", id="moved-where-it-is-used"),
    pytest.param("self.index = torch.arange(n)", "self.fc(x)[:, self.index]", id="cpu-index"),
    pytest.param("self.mask = nn.Parameter(torch.ones(n))", "self.fc(x) * self.mask", id="parameter"),
    pytest.param("self.sizes = torch.ones(n).tolist()", "self.fc(x) * self.sizes[0]", id="numbers"),
    pytest.param("self.mask = torch.ones(n).to('cuda')", "self.fc(x) * self.mask", id="made-there"),
    pytest.param("self.w = self.fc.weight", "x @ self.w", id="tied-weights"),
]


@pytest.mark.parametrize(("init", "use"), UNCHANGED)
def test_what_works_stays_as_it_is(unchanged, repair, init, use):
    program = unchanged(net(f"{SUPER}\n{FC}\n          {init}", f"          return {use}"))

    assert repair(CODE, program) == program


def test_half_of_an_object_is_not_moved(repair, unchanged):
    program = unchanged(
        """
        class Graph(object):
            def __init__(self, x, y):
                self.x, self.y = x, y


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        graph = Graph(torch.rand(8, 2), torch.rand(8, 2))
        there = torch.ones(8, 2, device=device)
        print(there - graph.y)
        rows = (graph.x,)
        rows[0].add_(there)
        """
    )

    assert repair(CODE, program) == program
    assert repair(CODE, program.replace("rows[0].add_(there)", "print(graph.x + there)")).count(".to(device)") == 2


def test_what_an_objects_own_move_makes_is_not_moved_again(repair, unchanged):
    program = unchanged(
        """
        class Graph:
            def __init__(self, x, y):
                self.x, self.y = x, y

            def to(self, device):
                return Graph(self.x.to(device), self.y.to("cpu"))


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        graph = Graph(torch.rand(8, 4), torch.rand(8, 2)).to(device)
        model = nn.Linear(4, 2).to(device)
        (model(graph.x) - graph.y).pow(2).mean().backward()
        """
    )

    assert ")).to(device)" not in repair(CODE, program).replace(program.split("graph = ")[1].split("\n")[0], "")


_ROLLOUTS = """
  class Rollouts:
      def __init__(self, steps):
          self.states = torch.rand(steps, 4)
          self.rewards = torch.rand(steps, 2)
          self.chances = torch.rand(steps, 2)

      def to(self, device):
          {moves}


  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
  policy = nn.Linear(4, 2).to(device)
  rollouts = Rollouts(8)
  {call}
  loss = (policy(rollouts.states) * rollouts.chances - rollouts.rewards).pow(2).mean()
  loss.backward()
"""
_ALL = ("self.states = self.states.to(device)", "self.rewards = self.rewards.to(device)")
_LAST = "self.chances = self.chances.to(device)"


def _rollouts(moves, call):
    return _ROLLOUTS.format(moves="\n          ".join(moves), call=call)


@pytest.mark.parametrize(
    "call",
    ["rollouts.to(device)", "rollouts.to(torch.device(device))", "rollouts.to(device=device)"],
)
def test_what_an_objects_own_move_forgets_is_moved_there(repair, unchanged, call):
    before = unchanged(_rollouts(_ALL, call))

    assert repair(CODE, before) == unchanged(_rollouts([*_ALL, _LAST], call))


def test_what_a_chained_move_forgets_is_moved_before_the_return(repair, unchanged):
    made = "rollouts = Rollouts(8).to(device)"
    before = unchanged(_rollouts([*_ALL, "return self"], "").replace("rollouts = Rollouts(8)", made))

    assert repair(CODE, before) == unchanged(
        _rollouts([*_ALL, _LAST, "return self"], "").replace("rollouts = Rollouts(8)", made)
    )


@pytest.mark.parametrize(
    ("end", "after"),
    [
        ([], "rollouts = Rollouts(8)\nrollouts.to(device)\n"),
        (["return"], "rollouts = Rollouts(8)\nrollouts.to(device)\n"),
        (["return None"], "rollouts = Rollouts(8)\nrollouts.to(device)\n"),
        (["return self"], "rollouts = Rollouts(8).to(device)\n"),
    ],
    ids=["no-return", "bare-return", "none", "itself"],
)
def test_an_object_whose_own_move_returns_nothing_is_moved_in_a_statement(repair, unchanged, end, after):
    before = unchanged(_rollouts([*_ALL, _LAST, *end], "pass"))

    assert repair(CODE, before) == before.replace("rollouts = Rollouts(8)\n", after)


ARGUMENT = """
  class Norm(nn.Module):
      def __init__(self):
          super().__init__()
          self.register_buffer("running", torch.zeros(2))

      def forward(self, x):
          self.mean = x.mean(0)
          self.running.mul_(0.9).add_(self.mean * 0.1)
          return x - self.running

  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
  norm = Norm().to(device)
  norm(torch.ones(3, 2))
"""


def test_what_is_computed_from_an_argument_on_the_cpu_is_the_callers_fault(repair, unchanged):
    text = unchanged(ARGUMENT)

    assert repair(CODE, text) == text


MASKED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)
        self.mask = torch.ones(3)

    def forward(self, x):
        return self.net(x) * self.mask


model = Net().cuda()
model(torch.ones(2, 3).cuda())
"""


@pytest.mark.parametrize(("release", "is_buffer"), [("1.4.0", False), ("1.6.0", True), ("2.1", True)])
def test_a_release_without_buffers_outside_the_state_dict_gets_none(repair, tmp_path, release, is_buffer):
    (tmp_path / "requirements.txt").write_text(f"torch=={release}\n", encoding="utf-8")

    assert ("persistent=False" in repair(CODE, MASKED)) is is_buffer
