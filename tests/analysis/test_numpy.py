"""Tensors made of NumPy's values: of an array they have dimensions, of a number they may meet any tensor."""

from __future__ import annotations

import pytest

SETUP = """
import numpy as np
import pandas as pd

table = pd.read_csv("measured.csv")
rng = np.random.default_rng(3)
grid = rng.normal(0.0, 2.0, size=(8, 3))
rows = np.array([[1.0, 2.0], [3.0, 4.0]])


def scaled(values, factor=2):
    return values / factor
"""

OF_AN_ARRAY = [
    pytest.param("torch.tensor(grid.mean(0))", id="mean-along-an-axis"),
    pytest.param("torch.tensor(np.percentile(rows, 5, axis=0))", id="percentile-by-keyword"),
    pytest.param("torch.as_tensor(rows.max(axis=1))", id="max-by-keyword"),
    pytest.param("torch.tensor(np.std(grid, 0))", id="function-with-axis"),
    pytest.param("torch.tensor(grid.sum(keepdims=True))", id="keepdims"),
    pytest.param("torch.as_tensor(table['price'].to_numpy())", id="to_numpy"),
    pytest.param("torch.tensor(table.price.values.astype('float32'))", id="astype"),
    pytest.param("torch.tensor(rows.reshape(-1))", id="reshape"),
    pytest.param("torch.tensor(grid * 2 + 1)", id="arithmetic"),
    pytest.param("torch.tensor(grid[:4])", id="slice"),
    pytest.param("torch.tensor(rows[rng.permutation(2)])", id="index-array"),
    pytest.param("torch.tensor(np.sqrt(grid))", id="elementwise"),
    pytest.param("torch.tensor(scaled(grid))", id="through-a-function"),
    pytest.param("torch.tensor(rng.integers(0, 9, size=5))", id="draw-of-a-size"),
]

MAYBE_A_NUMBER = [
    pytest.param("torch.tensor(grid.mean())", id="mean-of-all"),
    pytest.param("torch.tensor(np.mean(rows))", id="function-of-all"),
    pytest.param("torch.tensor(np.std(grid, axis=None))", id="no-axis"),
    pytest.param("torch.as_tensor(rows.max() - rows.min())", id="difference-of-numbers"),
    pytest.param("torch.tensor(rows[0, 1])", id="item"),
    pytest.param("torch.tensor(rng.random())", id="draw"),
    pytest.param("torch.tensor(np.sqrt(rows.max()))", id="elementwise-of-a-number"),
    pytest.param("torch.as_tensor(table.price.mean())", id="series"),
]


@pytest.mark.parametrize("expression", OF_AN_ARRAY)
def test_a_tensor_of_an_array_lives_on_the_cpu(place, expression):
    assert place(SETUP, expression) == "cpu"


@pytest.mark.parametrize("expression", MAYBE_A_NUMBER)
def test_a_tensor_of_a_number_may_meet_any(place, expression):
    assert place(SETUP, expression) == "unknown"


def test_the_truth_of_a_tensor_is_no_tensor(analyse):
    program = """
        import numpy as np

        scores = torch.ones(3).cuda()
        np.mean([bool(score < 0.5) for score in scores])
        np.mean([score < 0.5 for score in scores])
    """

    (access,) = analyse(program).host_accesses.values()
    assert access.point.span.line == access.point.tree.text.count("\n")


def test_only_arrays_have_astype(met):
    array = "y = (torch.ones(3).cuda() * 2).astype(int)\nprint(torch.ones(3) + torch.tensor(y))\n"

    assert met(array) == []
    assert met(array.replace("astype", "to")) == ["print(torch.ones(3) + torch.tensor(y))"]


def test_an_output_of_a_model_that_becomes_a_tensor_may_be_an_array(met):
    program = """
import transformers

net = transformers.AutoModel.from_pretrained("bert").cuda()
y = net(torch.ones(1, 3).cuda())
z = CONVERT(y["mask"])
print(torch.cat([z, torch.ones(3)]))
"""

    assert met(program.replace("CONVERT", "torch.tensor")) == []
    assert met(program.replace("CONVERT", "torch.relu")) == ["print(torch.cat([z, torch.ones(3)]))"]


@pytest.mark.parametrize(("other", "reads"), [("read", 0), ("torch.ones(3).cuda()", 1)])
def test_what_may_be_an_array_on_both_sides_may_be_an_array(analyse, other, reads):
    program = f"""
        import random
        import numpy as np
        from library import read, states

        def first():
            if random.random() < 0.5:
                return torch.ones(3).cuda(), 1
            return states.position, 1, 2

        np.linalg.norm({other} - first()[0])
    """

    assert len(analyse(program).host_accesses) == reads
