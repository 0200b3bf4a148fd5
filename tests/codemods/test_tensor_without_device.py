"""DEV102 by example: tensors that are made on the CPU, in many ways, and what only looks like it."""

from __future__ import annotations

import pytest

CODE = "DEV102"

IN_A_SCRIPT = [
    pytest.param("y = x + torch.zeros(4)", "y = x + torch.zeros(4, device=device)", id="zeros"),
    pytest.param("y = x @ torch.eye(4)", "y = x @ torch.eye(4, device=device)", id="eye"),
    pytest.param(
        "y = x + torch.tensor([1., 2, 3, 4])", "y = x + torch.tensor([1., 2, 3, 4], device=device)", id="data"
    ),
    pytest.param("y = x * torch.full((4,), 2.0)", "y = x * torch.full((4,), 2.0, device=device)", id="full"),
    pytest.param("y = model(torch.rand(3, 4))", "y = model(torch.rand(3, 4).to(device))", id="random-input"),
    pytest.param("y = x + torch.randn(4) * 0.1", "y = x + torch.randn(4).to(device) * 0.1", id="random-noise"),
    pytest.param(
        "p = torch.randperm(3)\nx.gather(0, p[:, None])", "p = torch.randperm(3).to(device)", id="permutation"
    ),
    pytest.param(
        "y = x + torch.FloatTensor([1, 2, 3, 4])", "y = x + torch.FloatTensor([1, 2, 3, 4]).to(device)", id="old"
    ),
    pytest.param(
        "y = x * torch.empty(4).uniform_(0, 1)", "y = x * torch.empty(4).uniform_(0, 1).to(device)", id="drawn-in-place"
    ),
    pytest.param(
        "a = torch.empty(4)\na.uniform_()\ny = x * a",
        "a = torch.empty(4)\na.uniform_()\na = a.to(device)",
        id="drawn-later",
    ),
    pytest.param(
        "a = torch.randn(3, 4, requires_grad=True)\nmodel(a)",
        "a = torch.randn(3, 4).to(device).requires_grad_()",
        id="a-leaf-stays-a-leaf",
    ),
    pytest.param(
        "kind = type(x.data)\ny = x + kind(x.size())", "y = x + kind(x.size()).to(device)", id="a-type-in-a-variable"
    ),
    pytest.param("i = torch.arange(3)\ny = i[x.argmax(1)]", "i = torch.arange(3, device=device)", id="indexed"),
    pytest.param("x[x.argmax(1)] = torch.ones(3, 4)", "= torch.ones(3, 4, device=device)", id="written-by-index"),
    pytest.param("t = torch.tensor(0.)\nt += x.sum()", "t = torch.tensor(0., device=device)", id="a-scalar-in-place"),
    pytest.param("t = torch.zeros(1)\nt.add_(x.sum())", "t = torch.zeros(1, device=device)", id="a-sum-in-place"),
    pytest.param(
        "b = []\nfor i in range(5):\n    b.append(torch.full((2,), i))\ny = torch.cat(b) + x.sum(1)[0].expand(10)",
        "b.append(torch.full((2,), i, device=device))",
        id="collected-in-a-list",
    ),
    pytest.param(
        "y = torch.cat([torch.zeros(1, 4), torch.ones(1, 4)]) + x[:2]",
        "torch.cat([torch.zeros(1, 4, device=device), torch.ones(1, 4, device=device)])",
        id="two-of-one-operand",
    ),
    pytest.param(
        "a = torch.autograd.grad(x.requires_grad_(), x, torch.ones(3, 4))",
        "torch.ones(3, 4, device=device)",
        id="gradient",
    ),
    pytest.param(
        "a, b = torch.meshgrid(torch.arange(3), torch.arange(4), indexing='ij')\ny = x + b",
        "torch.meshgrid(torch.arange(3, device=device), torch.arange(4, device=device), indexing='ij')",
        id="a-grid",
    ),
    pytest.param(
        'y = x + torch.zeros(4, device="cpu")', 'torch.zeros(4, device="cpu").to(device)', id="on-the-cpu-by-name"
    ),
]

SETUP = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
x = torch.ones(3, 4, device=device)
"""

ELSEWHERE = [
    pytest.param(
        """
          class Signed(torch.optim.Optimizer):
              def __init__(self, params, lr=0.1):
                  super().__init__(params, {"lr": lr})

              @torch.no_grad()
              def step(self, closure=None):
                  for group in self.param_groups:
                      for weight in group["params"]:
                          kept = self.state[weight]
                          if "mean" not in kept:
        -                     kept["mean"] = torch.zeros(weight.shape)
        +                     kept["mean"] = torch.zeros(weight.shape, device=weight.device)
                          kept["mean"].lerp_(weight.grad, 0.1)
                          weight.add_(kept["mean"].sign(), alpha=-group["lr"])

          net = nn.Linear(4, 2).cuda()
          optimizer = Signed(net.parameters())
          net(torch.ones(3, 4).cuda()).sum().backward()
          optimizer.step()
        """,
        id="the-state-of-an-own-optimizer",
    ),
    pytest.param(
        """
          import sys
          gpu = int(sys.argv[1])
          use_cuda = torch.cuda.is_available()
          model = nn.Linear(4, 2)
          if use_cuda:
              model.cuda(gpu)
          for step in range(3):
              x, noise = torch.ones(3, 4), torch.ones(3, 4)
              scale = torch.ones(3, 4)
              if use_cuda:
                  x, noise = x.cuda(gpu), noise.cuda(gpu)
        +         scale = scale.cuda(gpu)
              model(x * scale + noise)
        """,
        id="under-the-flag-of-its-neighbours",
    ),
    pytest.param(
        """
          import sys
          gpu = int(sys.argv[1])
          model = nn.Linear(4, 2)
          if torch.cuda.is_available():
              model = model.cuda(gpu)
          x = torch.ones(3, 4)
        + if torch.cuda.is_available():
        +     x = x.cuda(gpu)
          model(x)
        """,
        id="under-the-flag-of-the-model",
    ),
    pytest.param(
        """
          import sys
          gpu = int(sys.argv[1])
          model = nn.Linear(4, 2).to(gpu)
        - x = torch.randn(3, 4)
        + x = torch.randn(3, 4).to(gpu)
          model(x)
        """,
        id="an-index-without-condition",
    ),
    pytest.param(
        """
          def penalty(weights):
        -     pull = torch.linspace(0, 1, weights.size(0))
        +     pull = torch.linspace(0, 1, weights.size(0), device=weights.device)
              return (weights * pull).sum()


          penalty(torch.ones(3).cuda())
        """,
        id="an-operand-of-the-function",
    ),
    pytest.param(
        """
          device = torch.device("cuda")


          def mask(n):
              return torch.tril(torch.ones(n, n))


        - torch.ones(3, 3, device=device).masked_fill(mask(3) == 0, 0)
        + torch.ones(3, 3, device=device).masked_fill(mask(3).to(device) == 0, 0)
        """,
        id="a-helper-gains-the-right-call",
    ),
    pytest.param(
        """
          device = torch.device("cuda")


          def noise(n):
              return torch.randn(n, 2)


          print(noise(3).numpy())
        - z = noise(3)
        + z = noise(3).to(device)
          nn.Linear(2, 2).to(device)(z)
        """,
        id="only-the-call-that-needs-it",
    ),
    pytest.param(
        """
          device = torch.device("cuda")


          def pair(n):
        -     return torch.zeros(n), torch.ones(n)
        +     return torch.zeros(n, device=device), torch.ones(n, device=device)


          a, b = pair(3)
          c = torch.ones(3, device=device) + a + b
        """,
        id="a-helper-that-gives-two",
    ),
    pytest.param(
        """
          class Net(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.rnn = nn.GRU(4, 4)

              def init_hidden(self, n):
        -         return torch.zeros(1, n, 4)
        +         return torch.zeros(1, n, 4, device=next(self.parameters()).device)

              def forward(self, x):
                  return self.rnn(x, self.init_hidden(x.size(1)))


          Net().cuda()(torch.ones(3, 2, 4).cuda())
        """,
        id="a-hidden-state",
    ),
    pytest.param(
        """
          device = torch.device("cuda")
          n = torch.arange(3)
          print(n.numpy())
        - y = torch.ones(3, device=device) * n
        + y = torch.ones(3, device=device) * n.to(device)
        """,
        id="needed-on-both-sides",
    ),
    pytest.param(
        """
          device = torch.device("cuda")
          model = nn.Linear(4, 2).to(device)
          x = torch.randn(8, 4)
          loader = DataLoader(TensorDataset(x), batch_size=4)
          for (b,) in loader:
              model(b.to(device))
        - model(x)
        + model(x.to(device))
        """,
        id="a-data-set-keeps-its-tensors",
    ),
    pytest.param(
        """
          device = torch.device("cuda")


          class Sign(torch.optim.Optimizer):
              def __init__(self, params, lr):
                  super().__init__(params, {"lr": lr})
                  for group in self.param_groups:
                      for p in group["params"]:
        -                 self.state[p]["m"] = torch.zeros(p.shape)
        +                 self.state[p]["m"] = torch.zeros(p.shape, device=p.device)

              def step(self):
                  for group in self.param_groups:
                      for p in group["params"]:
                          self.state[p]["m"].add_(p.grad)


          net = nn.Linear(4, 2).to(device)
          optimizer = Sign(net.parameters(), 0.1)
          net(x).sum().backward()
          optimizer.step()
        """,
        id="state-of-an-optimizer",
    ),
    pytest.param(
        """
          device = torch.device("cuda")


          class Sign(torch.optim.Optimizer):
              def __init__(self, params, lr):
                  super().__init__(params, {"lr": lr})
                  for group in self.param_groups:
                      for p in group["params"]:
        -                 self.state[p]["m"] = torch.zeros(p.size(0), 4)
        +                 self.state[p]["m"] = torch.zeros(p.size(0), 4, device=p.device)

              def step(self):
                  for group in self.param_groups:
                      for p in group["params"]:
                          self.state[p]["m"].add_(p.grad)


          net = nn.Linear(4, 2, bias=False)
        - optimizer = Sign(net.parameters(), 0.1)
          net.to(device)
        + optimizer = Sign(net.parameters(), 0.1)
          net(x).sum().backward()
          optimizer.step()
        """,
        id="state-made-before-the-move",
    ),
]

UNTOUCHED = [
    pytest.param(
        "from audio import build\nbranch = build().to(device)\nbranch(torch.ones(1, 4), device=device)\n"
        "branch(torch.ones(1, 4), None, device)",
        id="an-unknown-module-that-gets-the-device",
    ),
    pytest.param(
        "class Own(torch.optim.Optimizer):\n    def step(self):\n        for group in self.param_groups:\n"
        "            for p in group['params']:\n                state = self.state[p]\n"
        "                if not state:\n                    state['mean'] = torch.zeros(p.shape).to(p)\n"
        "                p.data.add_(state['mean'].add_(p.grad), alpha=-0.1)\n"
        "optimizer = Own(nn.Linear(4, 4).cuda().parameters(), {})\noptimizer.step()",
        id="state-that-follows-its-parameter",
    ),
    pytest.param("y = x * torch.tensor(0.5)", id="a-scalar"),
    pytest.param("y = x * torch.zeros(())", id="no-dimensions"),
    pytest.param("y = x / torch.sqrt(torch.tensor(x.size(1)))", id="a-function-of-a-scalar"),
    pytest.param("y = x * torch.mean(torch.ones(3))", id="reduced-to-a-scalar"),
    pytest.param("t = torch.tensor(0.)\nt = t + x.sum()", id="a-sum-that-is-bound-again"),
    pytest.param("t = torch.tensor(0.)\nt += x.sum().item()", id="a-sum-of-numbers"),
    pytest.param("t = x.sum()\nt += torch.tensor(1.)", id="a-scalar-into-the-accelerator"),
    pytest.param("y = x[torch.arange(2)]", id="a-cpu-index"),
    pytest.param("y = x[torch.ones(3, dtype=torch.bool)]", id="a-cpu-mask"),
    pytest.param("i = torch.arange(3)\ny = i[x.sum().long()]", id="an-index-without-dimensions"),
    pytest.param("b = torch.zeros(3, 4)\nb[0] = x[0]", id="copied-by-number"),
    pytest.param("b = torch.zeros(3, 4)\nb.copy_(x)", id="copied"),
    pytest.param("x[0] = torch.ones(4)", id="written-by-number"),
    pytest.param("y = x.view_as(torch.ones(4, 3))", id="only-its-shape"),
    pytest.param("with torch.device(device):\n    y = x + torch.ones(4)", id="device-context"),
    pytest.param("torch.set_default_device(device)\ny = x + torch.ones(4)", id="default-device"),
    pytest.param("y = x + torch.ones(4).to(x)", id="moved"),
    pytest.param("y = x + x.new_ones(4)", id="made-alike"),
    pytest.param("y = x.cpu() + torch.ones(4)", id="both-here"),
    pytest.param("def late():\n    return x + torch.ones(4)", id="never-called"),
    pytest.param("import sys\ny = x * torch.tensor(len(sys.argv))", id="a-number"),
]


@pytest.mark.parametrize(("program", "after"), IN_A_SCRIPT)
def test_it_is_made_where_it_is_needed(repair, unchanged, program, after):
    fixed = repair(CODE, unchanged(SETUP) + program + "\n")

    assert after in fixed
    assert repair(CODE, fixed) == fixed


@pytest.mark.parametrize("listing", ELSEWHERE)
def test_functions_get_it_from_what_they_know_or_stay_as_they_are(repair, before_and_after, listing):
    before, after = before_and_after(listing)

    assert repair(CODE, before) == after


@pytest.mark.parametrize("program", UNTOUCHED)
def test_what_pytorch_accepts_stays_as_it_is(repair, unchanged, program):
    text = unchanged(SETUP) + program + "\n"

    assert repair(CODE, text) == text


def test_what_is_made_where_a_sent_tensor_is_has_that_move_for_its_cause(repair, unchanged):
    text = unchanged(SETUP) + 'i = torch.ones(4).to("cpu")\ny = x + torch.zeros(4, device=i.device)\n'

    assert repair(CODE, text) == text
    fixed = repair("DEV501", text)
    assert fixed == text.replace('"cpu")\ny', "device)\ny")


PAIRS = """
import torch
import torchtext
from torch import nn

words = torchtext.vocab.GloVe("6B")
table = torch.stack([words.get_vecs_by_tokens("a"), words.get_vecs_by_tokens("b")])
model = nn.Linear(50, 1).cuda()
pairs = torch.arange(2)
features = torch.cat([table[pairs], table[pairs]])
scores = model(features.cuda())
best = torch.sort(scores.view(-1)).indices
print(table[pairs[best]])
"""


def test_an_index_is_moved_where_the_tensor_meets_others_on_the_cpu(repair):
    assert repair("DEV102", PAIRS) == PAIRS.replace("pairs[best]", "pairs[best.cpu()]")


def test_the_tensor_is_created_where_its_index_is_if_it_meets_no_others(repair):
    program = "import torch\n\ntargets = torch.tensor([0, 1]).cuda()\nprint(torch.eye(3)[targets])\n"

    assert "torch.eye(3, device=targets.device)[targets]" in repair("DEV102", program)


ROUNDS = """import torch
from torch import nn

nets = [nn.Linear(3, 2).cuda(), nn.Linear(3, 2).cuda()]
rows = [[1.0, 2.0, 3.0]]
for net in nets:
    {first}rows = torch.FloatTensor(rows)
    print(net(rows))
"""


@pytest.mark.parametrize(
    ("first", "old", "new"),
    [
        ("", "net(rows)", "net(rows.to(next(net.parameters()).device))"),
        ("rows = [[1.0, 2.0, 3.0]]\n    ", "FloatTensor(rows)", "FloatTensor(rows).to(next(net.parameters()).device)"),
    ],
)
def test_what_the_next_round_creates_a_tensor_from_stays_on_the_cpu(repair, first, old, new):
    text = ROUNDS.format(first=first)

    assert repair("DEV102", text) == text.replace(old, new)


def test_class_weights_of_a_functional_loss_are_left_to_the_rule_for_modules(repair):
    text = "import torch\nfrom torch import nn\n\nmodel = nn.Linear(4, 2).cuda()\nx = torch.ones(3, 4).cuda()\n"
    weights = "weight = torch.tensor([1.0, 2.0])\n"
    program = f"{text}{weights}nn.functional.cross_entropy(model(x), x[:, :2], weight=weight)\n"

    assert repair("DEV102", program) == program
    assert repair("DEV204", program) == program.replace("2.0])", "2.0]).cuda()")


HELD = """\
import torch
from outside import load_model


def run(model, batch):
    return model(batch)


def create():
    n = 4
    BATCH
    return batch


run(load_model("small").cuda().eval(), create())
"""


@pytest.mark.parametrize(
    ("batch", "call"),
    [
        pytest.param("batch = torch.randn(n, 3)", "model(batch.to(next(model.parameters()).device))", id="a-tensor"),
        pytest.param('batch = {"image": torch.randn(n, 3)}', "model(batch)", id="a-dictionary"),
        pytest.param("batch = [torch.randn(n, 3)]", "model(batch)", id="a-list"),
        pytest.param("batch = torch.randn(n, 3), n", "model(batch)", id="a-tuple"),
    ],
)
def test_a_container_is_not_moved_as_a_tensor_is(repair, batch, call):
    assert f"return {call}\n" in repair("DEV102", HELD.replace("BATCH", batch))


GIVEN = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, device=None):
        super().__init__()
        self.device = torch.device(device or "cuda")
        self.layer = nn.Linear(4, 2, device=self.device)

    def forward(self, x):
        READ
        return self.layer(x)


def create():
    return torch.ones(3, 4), 1


net = Net()
x, _ = create()
net(x)
"""


@pytest.mark.parametrize(
    ("read", "call"),
    [("pass", "self.layer(x)"), ("y = torch.ones(3, device=self.device)", "self.layer(x.to(self.device))")],
)
def test_a_module_moves_no_input_to_a_device_that_its_method_does_not_use(repair, read, call):
    assert f"return {call}\n" in repair("DEV102", GIVEN.replace("READ", read))
