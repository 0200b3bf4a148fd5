"""Sources of the values of expressions."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.callers.facts.value_sources import (
    BUILT,
    CREATED,
    CREATED_BY_DEFAULT,
    FOLLOWED,
    SourceCollector,
    called,
)
from devfix.analysis.callers.file_names import names_of
from devfix.syntax.tree import SourceTree


def collector(*optional: str) -> SourceCollector:
    names = names_of(SourceTree("file.py", "import torch\nfrom torch import nn\n"))
    return SourceCollector(names, frozenset(optional), {})


def sources(text: str, *optional: str) -> set[str]:
    return collector(*optional).sources(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", {"x"}),
        ("self.table", {"self.table"}),
        ("a.table", {"a", "a.table", ".table"}),
        ("x.shape[0]", set()),
        ("x.size(0)", set()),
        ("len(x)", set()),
        ("torch.zeros(3)", {CREATED}),
        ("tokenizer(text, return_tensors='pt')", {CREATED}),
        ("torch.utils.data.DataLoader(items)", {CREATED, "items"}),
        ("torch.zeros(3, device=x.device)", {FOLLOWED}),
        ("torch.zeros(3, device=device)", {CREATED_BY_DEFAULT, "device"}),
        ("torch.zeros(3).to(y)", {"y"}),
        ("torch.relu(x)", {"x"}),
        ("nn.Linear(2, 2)", {BUILT}),
        ("nn.Parameter(torch.zeros(3))", set()),
        ("make(x)", {"?make", "x"}),
        ("make(device=x.device)", {"=?make"}),
        ("[x for x in items]", {"x"}),
    ],
)
def test_sources_of_a_value(text: str, expected: set[str]) -> None:
    assert sources(text, "device") == expected


def test_operands_and_arguments_are_used() -> None:
    found = collector()

    found.sources(ast.parse("(kept, a + torch.relu(b))", mode="eval").body)

    assert found.used == {"a", "b"}


def test_calling_a_new_module_creates_a_tensor() -> None:
    assert called([BUILT]) == {CREATED}
    assert called(["?Layer"]) == {"?Layer", "()Layer"}
    assert called(["Layer"]) == {"?Layer"}


def test_a_chain_of_calls_takes_time_in_proportion_to_its_length() -> None:
    chain = "builder" + "".join(f".with_part(x{number})" for number in range(60))
    assert {"builder", "x0", "x59", ".with_part"} <= sources(chain)
