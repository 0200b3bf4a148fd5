"""NumPy's elementwise functions of tensors: what replaces them where their results meet the accelerator again."""

from __future__ import annotations

import pytest

CODE = "DEV601"
SETUP = """
  import numpy as np
  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
  x = torch.rand(8, 4).to(device)
  y = torch.rand(8, 4).to(device)
"""

REWRITES = [
    pytest.param("- print(np.exp(x) * y)\n+ print(torch.exp(x) * y)", id="same-name"),
    pytest.param("- print(np.absolute(x - y) * y)\n+ print(torch.abs(x - y) * y)", id="other-name"),
    pytest.param("- print(y / np.maximum(x, 1e-6))\n+ print(y / torch.clamp(x, min=1e-6))", id="lower-bound"),
    pytest.param("- print(y / np.minimum(3, x))\n+ print(y / torch.clamp(x, max=3))", id="upper-bound"),
    pytest.param("- print(np.maximum(x, y) + y)\n+ print(torch.maximum(x, y) + y)", id="of-two-tensors"),
    pytest.param("- print(np.power(x, 2) + y)\n+ print(torch.pow(x, 2) + y)", id="power"),
    pytest.param(
        "- area = np.maximum(x - y, 0) * np.maximum(y - x, 0)\n"
        "+ area = torch.clamp(x - y, min=0) * torch.clamp(y - x, min=0)\n"
        "  print(area / y)",
        id="two-in-one-expression",
    ),
    pytest.param("- np.save('a.npy', np.exp(x))\n+ np.save('a.npy', np.exp(x.cpu()))", id="kept-on-the-cpu"),
    pytest.param("- print(float(np.exp(x.mean())) * y)\n+ print(float(np.exp(x.mean().item())) * y)", id="number"),
]

UNTOUCHED = [
    pytest.param("  print(np.exp(x.cpu()) + y.cpu())", id="on-the-cpu"),
    pytest.param("  print(torch.exp(x) * y)", id="torch"),
    pytest.param("  print(np.exp(2) * y)", id="number"),
]


@pytest.mark.parametrize("body", REWRITES)
def test_it_is_rewritten(body, before_and_after, repair):
    before, after = before_and_after(f"{SETUP}{body}\n")

    assert repair(CODE, before) == after


@pytest.mark.parametrize("body", UNTOUCHED)
def test_it_stays_as_it_is(body, unchanged, repair):
    text = unchanged(f"{SETUP}{body}\n")

    assert repair(CODE, text) == text


@pytest.mark.parametrize(("made", "is_moved"), [("agent.act(1)", False), ("torch.rand(8).to(device)", True)])
def test_a_list_tells_nothing_of_what_may_be_an_array(made, is_moved, repair, unchanged):
    program = unchanged(
        f"""{SETUP}
  from copy import deepcopy
  agent = torch.load("agents.pt", map_location="cpu")["agent"]
  agent.to("cuda")
  kept = []
  for _ in range(3):
      inner = []
      for _ in range(3):
          inner.append({made})
      kept.extend(deepcopy(inner))
  np.stack(kept)
"""
    )

    assert (".cpu()" in repair(CODE, program)) is is_moved


@pytest.mark.parametrize(("made", "is_moved"), [("[]", False), ("x", True)])
def test_an_item_that_a_loop_replaces_is_read_as_it_was_before(made, is_moved, repair, unchanged):
    program = unchanged(
        f"""{SETUP}
  import copy
  from settings import groups, scenes
  templates = {{}}
  for group in groups:
      templates[group] = {{"a": {made}, "b": {made}, "c": {made}}}
  for scene in scenes:
      items = copy.deepcopy(templates)
      for group in items:
          for name in items[group]:
              items[group][name] = torch.from_numpy(np.asarray(items[group][name])).float().to(device)
"""
    )

    assert (".cpu()" in repair(CODE, program)) is is_moved
