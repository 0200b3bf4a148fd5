"""Data of which a part, or a copy, is moved: the rest goes beside it, the copy is used; and what only looks like it."""

from __future__ import annotations

import pytest

REPAIRED = [
    pytest.param(
        """
          x = torch.ones(8, 4)
          x_dev = x.to(device)
        - net(x)
        + net(x_dev)
        """,
        id="the-copy-has-a-name",
    ),
    pytest.param(
        """
          x = torch.ones(8, 4)
          raw = x
          x = x.to(device)
        - net(raw)
        + net(x)
        """,
        id="an-alias-from-before-the-move",
    ),
    pytest.param(
        """
          x = torch.ones(8, 4)
          if torch.cuda.is_available():
              there = x.cuda()
          else:
              there = x
        - net(x)
        + net(there)
        """,
        id="a-name-for-either-place",
    ),
    pytest.param(
        """
          data = torch.randn(8, 4)
          train, test = data[:6], data[6:]
          train = train.to(device)
        + test = test.to(device)
          net(train)
          print(net(test))
        """,
        id="the-other-slice",
    ),
    pytest.param(
        """
          data = torch.randn(8, 4)
          target = data * 2
          for i in range(0, 8, 2):
              x = data[i:i + 2].to(device)
        -     y = target[i:i + 2]
        +     y = target[i:i + 2].to(device)
              print(net(x) - y[:, :2])
        """,
        id="the-same-slice-of-the-targets",
    ),
]
RETURNED = """
          data = torch.randn(8, 4)


          def batch():
              x, y = data[:3], data[1:4, :2]
        -     return x.to(device), y
        +     return x.to(device), y.to(device)


          x, y = batch()
          print(net(x) - y)
        """
OTHERWISE = [
    pytest.param(
        """
          x = torch.ones(8, 4)
          for step in range(3):
              if step:
                  x_dev = x.to(device)
        - x = torch.ones(8, 4)
        + x = torch.ones(8, 4, device=device)
          net(x)
        """,
        id="the-copy-is-of-another-tensor",
    ),
    pytest.param(
        """
        - x = torch.ones(8, 4)
        + x = torch.ones(8, 4, device=device)
          for step in range(3):
              if step > 1:
                  x_dev = x.to(device)
          net(x)
        """,
        id="the-copy-is-not-always-made",
    ),
    pytest.param(
        """
        - x = torch.ones(8, 4)
        + x = torch.ones(8, 4, device=device)
          net(x)
          x_dev = x.to(device)
        """,
        id="the-copy-is-made-later",
    ),
    pytest.param(
        """
        - x = torch.ones(8, 4)
        + x = torch.ones(8, 4, device=device)
          x_dev = x.to(device)
          x = x * 2
          net(x)
        """,
        id="the-value-is-another-by-now",
    ),
]
SETUP = """
  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
  net = nn.Linear(4, 2).to(device)
"""


def listing(body):
    rows = body.strip("\n").splitlines()
    return SETUP + "\n".join(row[8:] for row in rows) + "\n"


@pytest.mark.parametrize("body", [*REPAIRED, pytest.param(RETURNED, id="returned-together"), *OTHERWISE])
def test_the_edit_is_the_one_that_an_author_would_make(before_and_after, repair, body):
    before, after = before_and_after(listing(body))

    assert repair("DEV102", before) == after
