"""Sources of functions: local names are replaced by what they are bound to."""

from __future__ import annotations

import textwrap

from devfix.analysis.callers.facts.file_sources import FileSources, sources_of
from devfix.analysis.callers.facts.value_sources import CREATED
from devfix.syntax.tree import SourceTree


def read(text: str) -> FileSources:
    return sources_of(SourceTree("file.py", "import torch\nfrom torch import nn\n" + textwrap.dedent(text)))


def test_local_names_are_replaced() -> None:
    function = read("def f(x):\n    y = torch.zeros(3)\n    z = y\n    return z, TABLE").functions[0]

    assert function.returns == {CREATED, "TABLE"}


def test_branches_loops_and_handlers_are_read() -> None:
    text = """
        def f(x):
            try:
                for i in x:
                    if i:
                        y = torch.zeros(3)
            except ValueError:
                y = TABLE
            return y
        """

    assert read(text).functions[0].returns == {CREATED, "TABLE"}


def test_attributes_are_stored() -> None:
    text = """
        class M(nn.Module):
            def __init__(self):
                self.mask = torch.zeros(3)
                self.layers = [nn.Linear(2, 2)]
                self.names.append(NAME)
        """

    stores = read(text).classes["M"].methods[0].stores

    assert stores["self.mask"] == {CREATED}
    assert CREATED in stores["self.layers"]
    assert "NAME" in stores["self.names"]


def test_top_level_names_are_bound() -> None:
    assert read("TABLE = torch.zeros(3)").bound == {"TABLE": {CREATED}}


def test_results_of_inner_functions_count() -> None:
    function = read("def f(x):\n    def g(): return torch.zeros(3)\n    return g()").functions[0]

    assert CREATED in function.returns
