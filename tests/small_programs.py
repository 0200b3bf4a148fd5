"""Small programs for the tests of single fix modules: their observations, their nodes, and their text after edits."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from repair_fixtures import IMPORTS, sides

from devfix import analysis
from devfix.analysis.domain.state import State
from devfix.analysis.domain.values import ClassValue, Value
from devfix.analysis.observations import DeviceMismatch
from devfix.model import Edit
from devfix.rewrite import rewrite
from devfix.rules.registry import all_rules
from devfix.syntax.tree import SourceTree

__all__ = ["DEVICE", "IMPORTS", "call_of", "edited", "node_of", "observe", "parts_in", "sides", "statement_of"]

PATH = "/p/train.py"
DEVICE = IMPORTS + 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'


def observe(text: str) -> analysis.Observations:
    """Return the observations of a program, with the records of all rules."""
    subscriptions = [subscription for rule in all_rules() for subscription in rule.subscriptions]
    observations = analysis.analyse(PATH, {PATH: text}.get, "/p", subscriptions=subscriptions)
    assert observations is not None
    return observations


def edited(text: str, edits: Iterable[Edit] | None) -> str:
    """Return the text after the edits; the same text without edits."""
    found: Sequence[Edit] = tuple(edits or ())
    return rewrite(text, found) if found else text


def node_of(tree: SourceTree, fragment: str) -> ast.AST:
    """Return the first node whose source is ``fragment``."""
    return next(node for node in ast.walk(tree.tree) if ast.get_source_segment(tree.text, node) == fragment)


def statement_of(tree: SourceTree, fragment: str) -> ast.stmt:
    return tree.statement(node_of(tree, fragment))


def call_of(tree: SourceTree, fragment: str) -> ast.Call:
    """Return the first call whose source is ``fragment``."""
    calls = (node for node in ast.walk(tree.tree) if isinstance(node, ast.Call))
    return next(call for call in calls if tree.source(call) == fragment)


_PARTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = {parts}

    def forward(self, x):
        return {result}

net = Net().cuda()
net(torch.ones(3, 4).cuda())
"""


def parts_in(parts: str, result: str = "self.parts[0](x)") -> tuple[DeviceMismatch, State, Value, ClassValue | None]:
    """Return the failing operation of a module with ``parts``, its state, the value of ``parts``, and the class."""
    mismatch = observe(IMPORTS + _PARTS.format(parts=parts, result=result)).mismatches[0]
    state = mismatch.point.state
    assert state is not None
    objects = [obj for _, obj in state.heap_objects() if "parts" in obj.fields]
    return mismatch, state, objects[0].fields["parts"], objects[0].cls
