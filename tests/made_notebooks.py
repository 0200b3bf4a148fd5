"""Notebooks for tests, as Jupyter writes them."""

from __future__ import annotations

import json
from typing import Any

PYTHON = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def cell(source: str, kind: str = "code", count: int | None = None, **more: Any) -> dict[str, Any]:
    """One cell; its source as a list of lines."""
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    if kind == "code":
        made.update(execution_count=count, outputs=[])
    return made | more


def document(*cells: str | dict[str, Any], **more: Any) -> dict[str, Any]:
    """A notebook as values; text that is no cell is a cell of code."""
    made = [each if isinstance(each, dict) else cell(each) for each in cells]
    return {"cells": made, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 4} | more


def notebook(*cells: str | dict[str, Any], **more: Any) -> bytes:
    """A notebook as bytes."""
    return dumped(document(*cells, **more))


def dumped(values: dict[str, Any]) -> bytes:
    """As Jupyter writes it."""
    return (json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode()


#: The bug of the first founding incident, over four cells.
HEAD_REPLACED = (
    "!pip install -q torch\nimport torch\nfrom torch import nn",
    """\
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 8))
model.to(device);""",
    "model[1] = nn.Linear(8, 2)",
    """\
%%time
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(16, 4, device=device), torch.randint(0, 2, (16,), device=device)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()""",
)
