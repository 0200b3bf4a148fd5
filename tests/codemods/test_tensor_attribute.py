"""DEV202 by example: which attributes become buffers, where they are registered, and what is moved where it is used."""

from __future__ import annotations

import pytest

CODE = "DEV202"

NET = """
  class Net(nn.Module):
      def __init__(self, n=4):
{init}
      def forward(self, x):
{use}

  device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
  net = Net().to(device)
  net(torch.ones(2, 4, device=device))
"""
FC = "          self.fc = nn.Linear(n, n)"
SUPER = "          super().__init__()"


def net(init: str, use: str) -> str:
    """A module's listing: marks stand in the first column, as in every listing."""
    return NET.format(init=init.strip("\n"), use=use.strip("\n"))


REWRITES = [
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
-         self.mask = torch.tril(torch.ones(n, n))  # lower
+         self.register_buffer("mask", torch.tril(torch.ones(n, n)), persistent=False)  # lower
""",
            "          return self.fc(x) @ self.mask",
        ),
        id="after-super",
    ),
    pytest.param(
        net(
            f"""
-         self.mask = torch.ones(n)
          super().__init__()
+         self.register_buffer("mask", torch.ones(n), persistent=False)
{FC}
""",
            "          return self.fc(x) * self.mask",
        ),
        id="before-super",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
-         self.mask: torch.Tensor = torch.ones(n)
+         self.mask: torch.Tensor
+         self.register_buffer("mask", torch.ones(n), persistent=False)
{FC}
""",
            "          return self.fc(x) * self.mask",
        ),
        id="annotated",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
-         self.mask = None
+         self.register_buffer("mask", None, persistent=False)
          if n > 2:
              self.mask = torch.ones(n)
""",
            "          return self.fc(x) if self.mask is None else self.fc(x) * self.mask",
        ),
        id="none-at-first",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
          if n % 2:
-             self.mask = torch.ones(n)
+             self.register_buffer("mask", torch.ones(n), persistent=False)
          else:
-             self.mask = torch.zeros(n)
+             self.register_buffer("mask", torch.zeros(n), persistent=False)
""",
            "          return self.fc(x) * self.mask",
        ),
        id="on-two-branches",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
-         self.center = torch.zeros(1, n)
+         self.register_buffer("center", torch.zeros(1, n), persistent=False)
""",
            """
          x = self.fc(x) - self.center
          self.center = self.center * 0.9 + x.mean(0, keepdim=True).detach() * 0.1
          return x
""",
        ),
        id="given-new-values-later",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
          self.kind = self.flip = None
-         self.a, self.b = torch.ones(n), torch.zeros(n)
+         self.a = torch.ones(n)
+         self.register_buffer("b", torch.zeros(n), persistent=False)
""",
            "          return self.fc(x) + self.b",
        ),
        id="one-of-two-in-a-line",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
          for name in ("low", "high"):
-             setattr(self, name, torch.ones(n))
+             self.register_buffer(name, torch.ones(n), persistent=False)
""",
            "          return self.fc(x) * self.low + self.high",
        ),
        id="setattr",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
-         self.noise = torch.randn(n)
+         self.register_buffer("noise", torch.randn(n), persistent=False)
""",
            "          return self.fc(x) + self.noise",
        ),
        id="random-numbers-stay-the-same",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
          self.mask = None
""",
            """
          if self.mask is None:
-             self.mask = torch.ones(x.size(1))
+             self.mask = torch.ones(x.size(1), device=x.device)
          return self.fc(x) * self.mask
""",
        ),
        id="made-in-forward",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
          self.tables = [torch.ones(n), torch.zeros(n)]
""",
            """
          for table in self.tables:
-             x = x + table
+             x = x + table.to(x.device)
          return self.fc(x)
""",
        ),
        id="list-of-tensors",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
          self.register_buffer("scale", torch.ones(n))
          self.factor = self.scale
""",
            """
-         return self.fc(x) * self.factor
+         return self.fc(x) * self.scale
""",
        ),
        id="alias-of-a-buffer",
    ),
    pytest.param(
        net(
            f"""
{SUPER}
{FC}
          self.hidden = self.start()
""",
            """
          out, self.hidden = x + self.hidden[0], (x, x)
          return self.fc(out)

      def start(self):
-         return (torch.zeros(1, 4), torch.zeros(1, 4))
+         return (torch.zeros(1, 4, device=next(self.parameters()).device), torch.zeros(1, 4))

      def train_step(self, x):
          self.hidden = self.start()
          return self(x)
""",
        ).replace("net(torch", "net.train_step(torch"),
        id="state-that-is-made-anew",
    ),
    pytest.param(
        """
          class Schedule:
              def __init__(self, steps, device):
        -         self.betas = torch.linspace(0.1, 0.2, steps)
        +         self.betas = torch.linspace(0.1, 0.2, steps, device=device)
                  self.alphas = 1 - self.betas
                  self.device = device

              def noisy(self, x, t):
                  return x * self.alphas[t] + self.betas[t]


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Schedule(5, device).noisy(torch.ones(3, device=device), torch.zeros(3, device=device).long())
        """,
        id="plain-class-with-a-device",
    ),
    pytest.param(
        """
          class Schedule:
              def __init__(self, steps):
                  self.betas = torch.linspace(0.1, 0.2, steps)

              def noisy(self, x, t):
        -         beta = self.betas[t].view(-1, 1)
        +         beta = self.betas.to(t.device)[t].view(-1, 1)
                  return x * beta


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Schedule(5).noisy(torch.ones(3, 2, device=device), torch.zeros(3, device=device).long())
        """,
        id="plain-class-without-one",
    ),
    pytest.param(
        """
          class Meter:
              def __init__(self):
                  self.total = torch.zeros(2)

              def add(self, value):
        +         self.total = self.total.to(value.device)
                  self.total += value


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Meter().add(torch.ones(2, device=device))
        """,
        id="accumulator",
    ),
    pytest.param(
        """
          class Meter:
              def __init__(self):
                  self.hits = torch.zeros(2)

              def add(self, value):
                  for label in range(2):
        +             self.hits = self.hits.to(value.device)
                      self.hits[label] += (value == label).sum()


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Meter().add(torch.ones(2, device=device))
        """,
        id="counts-of-labels",
    ),
    pytest.param(
        """
          class Meter:
              def __init__(self):
                  self.mean = torch.zeros(2)

              def add(self, value):
        +         self.mean = self.mean.to(value.device)
                  self.mean.mul_(0.9).add_(value, alpha=0.1)


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Meter().add(torch.ones(2, device=device))
        """,
        id="written-in-place",
    ),
    pytest.param(
        """
          class Meter:
              def __init__(self):
                  self.total = torch.zeros(2)

              def add(self, value):
        +         self.total = self.total.to(value.device)
                  torch.add(self.total, value, out=self.total)


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Meter().add(torch.ones(2, device=device))
        """,
        id="out",
    ),
    pytest.param(
        """
          class Meter:
              def __init__(self):
                  self.totals = {"all": torch.zeros(2)}

              def add(self, value):
        +         self.totals["all"] = self.totals["all"].to(value.device)
                  self.totals["all"] += value


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Meter().add(torch.ones(2, device=device))
        """,
        id="counts-in-a-dictionary",
    ),
    pytest.param(
        """
          class Loss(nn.Module):
              weights = torch.ones(4)

              def forward(self, x):
        -         return (x * self.weights).sum()
        +         return (x * self.weights.to(x.device)).sum()


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Loss().to(device)(torch.ones(3, 4, device=device))
        """,
        id="attribute-of-the-class",
    ),
    pytest.param(
        """
          class Net(nn.Module):
              mask = None

              def __init__(self):
                  super().__init__()
                  self.mask = torch.ones(4)

              def forward(self, x):
        -         return x * self.mask
        +         return x * self.mask.to(x.device)


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          Net().to(device)(torch.ones(3, 4, device=device))
        """,
        id="name-that-the-class-has-already",
    ),
    pytest.param(
        """
          class Traces:
              def __init__(self, n):
                  self.pre = torch.zeros(n)
                  self.post = torch.zeros(n)
                  self.decay = torch.full((n,), 0.9)

              def cuda(self):
                  self.pre = self.pre.cuda(non_blocking=True)
                  self.post = self.post.cuda(non_blocking=True)
        +         self.decay = self.decay.cuda(non_blocking=True)
                  return self

              def step(self, spikes):
                  self.pre = self.pre * self.decay + spikes


          traces = Traces(3).cuda()
          traces.step(torch.ones(3).cuda())
        """,
        id="beside-its-siblings",
    ),
    pytest.param(
        """
          class Rollout:
              def __init__(self, states, actions, returns):
                  self.states, self.actions, self.returns = states, actions, returns

              def on(self, where):
        -         return Rollout(self.states.to(where), self.actions.to(where), returns=self.returns)
        +         return Rollout(self.states.to(where), self.actions.to(where), returns=self.returns.to(where))


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          critic = nn.Linear(4, 1).to(device)
          memory = Rollout(torch.ones(5, 4), torch.ones(5, 2), torch.ones(5, 1))
          rollout = memory.on(device)
          (critic(rollout.states) - rollout.returns).pow(2).mean().backward()
        """,
        id="handed-over-beside-its-siblings",
    ),
    pytest.param(
        """
          class Walker(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.cell = nn.GRUCell(4, 4)
                  self.memory = None

              def forward(self, x):
                  self.memory = self.cell(x, self.memory)
                  return self.memory


          place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
          walker = Walker().to(place)
          for _ in range(3):
        -     walker.memory = torch.zeros(2, 4)
        +     walker.memory = torch.zeros(2, 4, device=place)
              walker(torch.ones(2, 4, device=place))
        """,
        id="written-from-the-script",
    ),
]


REWRITES.append(
    pytest.param(
        """
          class Graph(object):
              def __init__(self, x, y):
                  self.x, self.y = x, y

              def to(self, device):
                  for key, item in self.__dict__.items():
                      self.__dict__[key] = item.to(device)
                  return self


          device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        - graph = Graph(torch.rand(8, 4), torch.rand(8, 2))
        + graph = Graph(torch.rand(8, 4), torch.rand(8, 2)).to(device)
          model = nn.Linear(4, 2).to(device)
          (model(graph.x) - graph.y).pow(2).mean().backward()
        """,
        id="the-whole-object-that-can-move-itself",
    )
)


@pytest.mark.parametrize("listing", REWRITES)
def test_an_attribute_goes_with_its_module_or_to_what_it_meets(before_and_after, repair, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("listing", REWRITES)
def test_a_second_run_changes_nothing(before_and_after, repair, listing):
    _, after = before_and_after(listing)

    assert repair(CODE, after) == after


UNCHANGED = [
    pytest.param("self.mask = torch.tensor(0.5)", "self.fc(x) * self.mask", id="scalar"),
    pytest.param("self.mask = torch.ones(n)", "self.fc(x) * self.mask.to(x)", id="moved-where-it-is-used"),
    pytest.param("self.index = torch.arange(n)", "self.fc(x)[:, self.index]", id="cpu-index"),
    pytest.param("self.mask = nn.Parameter(torch.ones(n))", "self.fc(x) * self.mask", id="parameter"),
    pytest.param("self.sizes = torch.ones(n).tolist()", "self.fc(x) * self.sizes[0]", id="numbers"),
    pytest.param("self.mask = torch.ones(n).to('cuda')", "self.fc(x) * self.mask", id="made-there"),
    pytest.param("self.w = self.fc.weight", "x @ self.w", id="tied-weights"),
]


@pytest.mark.parametrize(("init", "use"), UNCHANGED)
def test_what_works_stays_as_it_is(unchanged, repair, init, use):
    program = unchanged(net(f"{SUPER}\n{FC}\n          {init}", f"          return {use}"))

    assert repair(CODE, program) == program


def test_half_of_an_object_is_not_moved(repair, unchanged):
    program = unchanged(
        """
        class Graph(object):
            def __init__(self, x, y):
                self.x, self.y = x, y


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        graph = Graph(torch.rand(8, 2), torch.rand(8, 2))
        there = torch.ones(8, 2, device=device)
        print(there - graph.y)
        rows = (graph.x,)
        rows[0].add_(there)
        """
    )

    assert repair(CODE, program) == program
    assert repair(CODE, program.replace("rows[0].add_(there)", "print(graph.x + there)")).count(".to(device)") == 2


def test_what_an_objects_own_move_makes_is_not_moved_again(repair, unchanged):
    program = unchanged(
        """
        class Graph:
            def __init__(self, x, y):
                self.x, self.y = x, y

            def to(self, device):
                return Graph(self.x.to(device), self.y.to("cpu"))


        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        graph = Graph(torch.rand(8, 4), torch.rand(8, 2)).to(device)
        model = nn.Linear(4, 2).to(device)
        (model(graph.x) - graph.y).pow(2).mean().backward()
        """
    )

    assert ")).to(device)" not in repair(CODE, program).replace(program.split("graph = ")[1].split("\n")[0], "")
