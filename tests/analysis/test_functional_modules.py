"""``functional_call``: a module is called with other parameters than its own."""

from __future__ import annotations

import pytest
from device_programs import Program, check_broken, check_right

RIGHT = [
    Program(
        "functional-call",
        """
model = nn.Linear(3, 3)
params = {name: value.detach().cuda() for name, value in model.named_parameters()}
out = torch.func.functional_call(model, params, (torch.ones(2, 3, device="cuda"),))
out + torch.ones(3, device="cuda")
model(torch.ones(2, 3))
""",
    ),
    Program(
        "functional-call-kwargs",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x, scale=None):
        out = self.norm(self.linear(x))
        return out * scale if scale is not None else out


model = Net()
device = torch.device("cuda")
weights = {k: v.to(device) for k, v in model.state_dict().items()}
x = torch.ones(2, 3, device=device)
out = torch.func.functional_call(model, weights, (x,), {"scale": torch.ones(3, device=device)})
out = torch.func.functional_call(model, weights, args=(x,), kwargs=dict(scale=torch.ones(3, device=device)))
out + torch.func.functional_call(model, weights, x, strict=True)
model(torch.ones(2, 3), scale=torch.ones(3))
""",
    ),
    Program(
        "functional-call-split",
        """
model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
params = {k: v.detach().cuda() for k, v in model.named_parameters()}
buffers = {k: v.cuda() for k, v in model.named_buffers()}
x = torch.ones(2, 3, device="cuda")
torch.func.functional_call(model, (params, buffers), (x,)) + x
torch.func.functional_call(model, {**params, **buffers}, (x,)) + x
torch.func.functional_call(model, params | buffers, (x,)) + x
both = dict(params)
both.update(buffers)
torch.func.functional_call(model, both, (x,)) + x
named = {}
for name, value in model.named_parameters():
    named[name] = value.cuda()
for name, value in model.named_buffers():
    named[name] = value.cuda()
torch.func.functional_call(model, named, (x,)) + x
""",
    ),
    Program(
        "functional-call-subset",
        """
model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
model[1].cuda()
x = torch.ones(2, 3, device="cuda")
new = {"0.weight": torch.ones(3, 3, device="cuda"), "0.bias": torch.ones(3, device="cuda")}
torch.func.functional_call(model, new, (x,)) + x
torch.func.functional_call(model[0], {"weight": new["0.weight"], "bias": new["0.bias"]}, (x,)) + x
""",
    ),
    Program(
        "functional-call-of-some",
        """
model = nn.Linear(3, 3).cuda()
torch.func.functional_call(model, {"weight": torch.ones(3, 3, device="cuda")}, torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "per-sample-gradients",
        """
from torch.func import functional_call, grad, vmap

model = nn.Linear(3, 1).cuda()
params = {name: value.detach() for name, value in model.named_parameters()}
buffers = {name: value.detach() for name, value in model.named_buffers()}


def loss(params, buffers, sample, target):
    out = functional_call(model, (params, buffers), (sample.unsqueeze(0),))
    return F.mse_loss(out, target.unsqueeze(0))


xs, ys = torch.ones(4, 3, device="cuda"), torch.ones(4, 1, device="cuda")
grads = vmap(grad(loss), in_dims=(None, None, 0, 0))(params, buffers, xs, ys)
grads["weight"] + torch.ones(3, device="cuda")
""",
    ),
    Program(
        "grad-of-parameters",
        """
from torch.func import functional_call, grad, jacrev, vmap

model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1)).cuda()
params = dict(model.named_parameters())


def predict(params, x):
    return functional_call(model, params, x).sum()


x = torch.ones(3, device="cuda")
g = grad(predict)(params, x)
new = {k: params[k] - 0.1 * g[k] for k in params}
out = predict(new, x)
jac = jacrev(predict)(params, x)
total = sum(v.sum() for v in jac.values()) + out
flat = torch.cat([v.flatten() for v in jac.values()])
flat @ flat.cuda()
ntk = torch.stack([v.flatten() @ v.flatten() for v in jac.values()]) + torch.ones(4, device="cuda")
""",
    ),
    Program(
        "jvp-parameters",
        """
model = nn.Linear(3, 1).cuda()
params = {k: v.detach() for k, v in model.named_parameters()}
tangents = {k: torch.randn_like(v) for k, v in params.items()}
x = torch.ones(2, 3, device="cuda")


def f(p):
    return torch.func.functional_call(model, p, (x,))


out, t = torch.func.jvp(f, (params,), (tangents,))
out + t + torch.ones(1, device="cuda")
out, pull = torch.func.vjp(f, params)
(g,) = pull(torch.ones_like(out))
g["weight"] + torch.ones(3, device="cuda")
""",
    ),
    Program(
        "ensemble",
        """
import copy

from torch.func import functional_call, stack_module_state, vmap

models = [nn.Linear(3, 2).cuda() for _ in range(4)]
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")


def call(params, buffers, x):
    return functional_call(base, (params, buffers), (x,))


x = torch.ones(5, 3, device="cuda")
out = vmap(call, in_dims=(0, 0, None))(params, buffers, x)
out + torch.ones(2, device="cuda")
""",
    ),
    Program(
        "stateless",
        """
model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
fast = {name: (value * 2).cuda() for name, value in model.named_parameters()}
out = nn.utils.stateless.functional_call(model, fast, torch.ones(2, 3, device="cuda"))
out + torch.ones(3, device="cuda")
""",
    ),
    Program(
        "meta-learning",
        """
from torch.func import functional_call

model = nn.Linear(3, 1).cuda()
fast = dict(model.named_parameters())
x, y = torch.ones(4, 3, device="cuda"), torch.ones(4, 1, device="cuda")
for _ in range(3):
    loss = F.mse_loss(functional_call(model, fast, (x,)), y)
    grads = torch.autograd.grad(loss, fast.values(), create_graph=True)
    fast = {name: value - 0.1 * g for (name, value), g in zip(fast.items(), grads)}
loss = F.mse_loss(functional_call(model, fast, (x,)), y)
loss.backward()
""",
    ),
    Program(
        "functional-methods",
        """
class Learner(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def adapt(self, x, y, params=None):
        params = params or dict(self.net.named_parameters())
        loss = F.mse_loss(torch.func.functional_call(self.net, params, (x,)), y)
        grads = torch.autograd.grad(loss, params.values(), create_graph=True)
        return {k: p - 0.1 * g for (k, p), g in zip(params.items(), grads)}

    def forward(self, x, y):
        fast = self.adapt(x, y)
        fast = self.adapt(x, y, fast)
        return torch.func.functional_call(self.net, fast, (x,))


learner = Learner(nn.Linear(3, 1)).cuda()
learner(torch.ones(2, 3, device="cuda"), torch.ones(2, 1, device="cuda")) + torch.ones(1, device="cuda")
""",
    ),
]

BROKEN = [
    Program(
        "functional-call-input",
        """
model = nn.Linear(3, 3).cuda()
params = {name: value.detach() for name, value in model.named_parameters()}
torch.func.functional_call(model, params, (torch.ones(2, 3),))
""",
    ),
    Program(
        "functional-call-parameters",
        """
model = nn.Linear(3, 3)
params = {name: value.detach() for name, value in model.named_parameters()}
torch.func.functional_call(model, params, (torch.ones(2, 3, device="cuda"),))
""",
    ),
    Program(
        "per-sample-gradients",
        """
from torch.func import functional_call, grad, vmap

model = nn.Linear(3, 1).cuda()
params = dict(model.named_parameters())


def loss(params, sample, target):
    return F.mse_loss(functional_call(model, params, (sample,)), target)


xs, ys = torch.ones(4, 3, device="cuda"), torch.ones(4, 1)
vmap(grad(loss), in_dims=(None, 0, 0))(params, xs, ys)
""",
    ),
    Program(
        "stateless",
        """
model = nn.Linear(3, 3).cuda()
weights = {name: torch.ones_like(value, device="cpu") for name, value in model.named_parameters()}
nn.utils.stateless.functional_call(model, weights, torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "meta-learning",
        """
model = nn.Linear(3, 1).cuda()
fast = {name: value - 0.1 for name, value in model.named_parameters()}
for step in range(3):
    torch.func.functional_call(model, fast, (torch.ones(4, 3),))
""",
    ),
    Program(
        "ensemble",
        """
from torch.func import functional_call, stack_module_state, vmap

models = [nn.Linear(3, 2) for _ in range(4)]
params, buffers = stack_module_state(models)


def call(params, buffers, x):
    return functional_call(models[0], (params, buffers), (x,))


vmap(call, in_dims=(0, 0, None))(params, buffers, torch.ones(5, 3, device="cuda"))
""",
    ),
]


@pytest.mark.parametrize("program", RIGHT, ids=str)
def test_a_right_program_runs_and_nothing_is_reported(program):
    check_right(program)


@pytest.mark.parametrize("program", BROKEN, ids=str)
def test_a_broken_program_fails_on_its_last_line_and_is_reported(program):
    check_broken(program)
