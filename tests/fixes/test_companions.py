"""Data that goes into one call with data that the program moves: it is moved by a statement of the same kind."""

from __future__ import annotations

import pytest

CODE = "DEV102"

NET = """
  class Net(nn.Module):
      def __init__(self):
          super().__init__()
          self.fc = nn.Linear(3, 2)

      def forward(self, x, edges=None):
          return self.fc(edges @ x)


  def graph():
      return torch.eye(4) + torch.ones(4, 4), torch.randn(4, 3)


  use_cuda = torch.cuda.is_available()
  model = Net()
"""
REWRITES = [
    pytest.param(
        f"""{NET}
  edges, x = graph()
  if use_cuda:
      model.cuda()
      x = x.cuda()
+     edges = edges.cuda()

  def step():
      return model(x, edges).sum()

  step()
""",
        id="globals-under-a-flag",
    ),
    pytest.param(
        f"""{NET}
  device = torch.device("cuda" if use_cuda else "cpu")
  model.to(device)

  def main():
      edges, x = graph()
      edges = edges / edges.sum(1)
      x = x.to(device)
+     edges = edges.to(device)
      print(model(x, edges=edges).sum())

  main()
""",
        id="locals-and-a-keyword",
    ),
]
ELSEWHERE = [
    pytest.param("      x = x.to(device)\n      edges = graph()[0]\n      model(x, edges)", id="bound-later"),
    pytest.param("      y = x.to(device)\n      model(y, edges)", id="moved-under-another-name"),
    pytest.param("      x = (x + 1).to(device)\n      model(x, edges)", id="moved-in-an-expression"),
    pytest.param("      x = x.to(device)\n      model(x, edges + 1)", id="no-name"),
]


@pytest.mark.parametrize("listing", REWRITES)
def test_what_goes_along_is_moved_along(repair, before_and_after, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("body", ELSEWHERE)
def test_where_no_companion_is_moved_so_no_such_statement_comes(repair, unchanged, body):
    program = unchanged(
        f"""{NET}
  device = torch.device("cuda" if use_cuda else "cpu")
  model.to(device)

  def main():
      edges, x = graph()
{body}

  main()
"""
    )

    assert "edges = edges.to(device)" not in repair(CODE, program)
