"""Replay memories and rows of tuples: deques, named tuples, and what is drawn from them."""

from __future__ import annotations

import pytest

SETUP = """
import random
from collections import deque, namedtuple
from typing import NamedTuple

Step = namedtuple("Step", "state reward")
Listed = namedtuple("Listed", ["state", "reward"])
Typed = NamedTuple("Typed", [("state", object), ("reward", object)])

class Written(NamedTuple):
    state: object
    reward: float = 0.0

def filled(kind, *begin):
    memory = deque(*begin, maxlen=100)
    for i in range(100):
        memory.append(kind(torch.randn(3), i))
    return memory
"""
CPU = [
    pytest.param("x = Step(torch.randn(3), 1).state", id="field"),
    pytest.param("x = Step(state=torch.randn(3), reward=1)[0]", id="item"),
    pytest.param("x, _ = Step(torch.randn(3), 1)", id="unpacked"),
    pytest.param("x = Listed(torch.randn(3), 1).state", id="names-in-a-list"),
    pytest.param("x = Typed(torch.randn(3), 1).state", id="names-with-types"),
    pytest.param("x = Written(torch.randn(3)).state", id="class"),
    pytest.param("for x, _ in filled(Step): pass", id="deque"),
    pytest.param("for x, _ in filled(Step, []): pass", id="deque-of-nothing"),
    pytest.param("x = random.choice(filled(Step)).state", id="choice"),
    pytest.param("for step in random.sample(filled(Step), 8): x = step.state", id="sample"),
    pytest.param("rows = random.choices(filled(Step), k=8)\nx = rows[0].state", id="choices"),
    pytest.param("states, rewards = zip(*random.sample(filled(Step), 8))\nx = torch.stack(states)", id="columns"),
    pytest.param("x = torch.stack(Step(*zip(*random.sample(filled(Step), 8))).state)", id="step-of-columns"),
    pytest.param("x = torch.stack(Written(*zip(*filled(Written))).state)", id="class-of-columns"),
    pytest.param("rows = [(torch.randn(3), 1)]\nxs, _ = zip(*random.sample(rows, 1))\nx = xs[0]", id="tuples"),
]
UNKNOWN = [
    pytest.param("x = namedtuple('Odd name', 'state')(torch.randn(3)).state", id="no-class-name"),
    pytest.param("x = namedtuple('Odd', names)(torch.randn(3))[0]", id="unknown-names"),
    pytest.param("x = namedtuple('Odd', 'class state', rename=True)(1, torch.randn(3)).state", id="renamed"),
    pytest.param("x = random.choice(unknown)", id="unknown-sequence"),
    pytest.param("x = random.choice([torch.randn(3), torch.randn(3).cuda()])", id="one-of-two-places"),
]


@pytest.mark.parametrize("program", CPU)
def test_what_a_row_holds_stays_on_the_cpu(place, program):
    assert place(f"{SETUP}\n{program}", "x") == "cpu"


def test_what_was_put_in_there_is_there(place):
    program = f"{SETUP}\nmemory = deque([], 9)\nmemory.append(Step(torch.ones(3).cuda(), 1))"

    assert place(program, "torch.cat(Step(*zip(*random.sample(memory, 1))).state)") == "accelerator"


@pytest.mark.parametrize("program", UNKNOWN)
def test_what_cannot_be_told_is_unknown(place, program):
    assert place(f"{SETUP}\n{program}", "x") in ("unknown", "either")


def test_an_entry_that_may_be_none_meets_nothing_where_it_is_left_out(place):
    program = f"{SETUP}\nrows = [torch.ones(3).cuda() if i % 5 else None for i in range(9)]"

    assert place(program, "torch.cat([row for row in rows if row is not None])") == "accelerator"


@pytest.mark.parametrize(
    ("index", "fails"),
    [("random.choices(range(n), k=3)", True), ("random.sample(load(), 3)", True), ("random.choice(range(n))", False)],
)
def test_a_random_list_of_indices_selects_more_than_a_number(met, index, fails):
    """One of the numbers of a tensor may meet a tensor on the accelerator; several may not."""
    program = f"""
        import random
        from elsewhere import load, n

        table = torch.zeros(10)
        table[{index}] + torch.ones(3).cuda()
        """

    assert bool(met(program)) is fails
