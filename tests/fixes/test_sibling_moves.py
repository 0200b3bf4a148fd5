"""Moves beside those of sibling attributes, in the method with which a class moves itself."""

from __future__ import annotations

import pytest
from small_programs import DEVICE, edited, observe, sides

from devfix.fixes.modules.attribute_writes import attribute_groups
from devfix.fixes.modules.module_roots import unmoved_roots
from devfix.fixes.modules.sibling_moves import (
    move_beside_sibling_attributes,
    move_beside_sibling_modules,
    move_owners,
)

GRAPH = """\
  class Graph:
      def __init__(self):
          self.x = torch.ones(3)
          self.y = torch.ones(3)

      def to(self, device):
{body}

  graph = Graph(){chained}
{script}  print(graph.x + torch.ones(3).to(device), graph.y + torch.ones(3).to(device))
"""
MOVED = "          self.x = self.x.to(device)\n{}          return self"


def group_in(text):
    observations = observe(text)
    return observations, next(attribute_groups(observations))


def graph(body, script="", chained=""):
    return sides(GRAPH.format(body=body, script=script, chained=chained), DEVICE)


def test_an_attribute_is_moved_after_its_sibling():
    before, after = graph(MOVED.format("+         self.y = self.y.to(device)\n"), chained=".to(device)")

    assert edited(before, move_beside_sibling_attributes(*group_in(before))) == after


@pytest.mark.parametrize(
    ("body", "chained"),
    [
        pytest.param(MOVED.format(""), "", id="never-called"),
        pytest.param("          return self", ".to(device)", id="no-sibling"),
        pytest.param("          x = self.x.to(device)\n          return self", ".to(device)", id="local-name"),
    ],
)
def test_without_a_moved_sibling_attribute_there_is_no_edit(body, chained):
    before, _ = graph(body, chained=chained)

    assert move_beside_sibling_attributes(*group_in(before)) == []


BOTH = "          self.y = self.y.to(device)\n"


def test_an_object_with_a_to_method_is_moved_at_its_construction():
    before, _ = graph(MOVED.format(BOTH))

    assert edited(before, move_owners(*group_in(before))) == before.replace("= Graph()", "= Graph().to(device)")


def test_an_object_whose_to_returns_nothing_is_moved_in_a_statement():
    before, after = graph(MOVED.format(BOTH).replace("return self", "pass"), script="+ graph.to(device)\n")

    assert edited(before, move_owners(*group_in(before))) == after


@pytest.mark.parametrize(
    ("body", "chained"),
    [
        pytest.param(MOVED.format(""), ".to(device)", id="its-to-leaves-the-attribute"),
        pytest.param("          pass\n\n      def move(self):\n          pass", "; graph.move()", id="other-method"),
    ],
)
def test_another_move_of_the_object_does_not_help(body, chained):
    before, _ = graph(body, chained=chained)
    if "move" in chained:
        before = before.replace("def to(self, device)", "def go(self, device)")

    assert move_owners(*group_in(before)) == []


TRAINER = """\
  class Trainer:
      def __init__(self):
          self.encoder = nn.Linear(4, 4)
          self.decoder = nn.Linear(4, 2)

      def start(self):
{body}          self.decoder(self.encoder(torch.ones(4).to(device)))

  Trainer().start()
"""


@pytest.mark.parametrize(
    "body",
    [
        "          self.encoder.cuda()\n+         self.decoder.cuda()\n",
        "          self.encoder = self.encoder.to(device)\n+         self.decoder = self.decoder.to(device)\n",
    ],
    ids=["statement", "assignment"],
)
def test_a_module_is_moved_after_its_sibling_attribute(body):
    before, after = sides(TRAINER.format(body=body), DEVICE)

    assert edited(before, beside(before)) == after


def beside(text):
    observations = observe(text)
    mismatch = observations.mismatches[0]
    root = unmoved_roots(observations, mismatch, mismatch.cpu[0])[0]
    return list(move_beside_sibling_modules(observations, mismatch, root))


@pytest.mark.parametrize(
    "body",
    [
        "          for part in [1]:\n              self.encoder.cuda()\n",
        "          encoder = self.encoder.cuda()\n",
        "          pass\n",
    ],
    ids=["loop", "other-name", "no-move"],
)
def test_without_a_sibling_module_that_moves_in_place_there_is_no_edit(body):
    assert beside(sides(TRAINER.format(body=body), DEVICE)[0]) == []
