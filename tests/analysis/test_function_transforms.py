"""``torch.func``: a transformed function gets the arguments of the call, and returns tensors on their devices."""

from __future__ import annotations

import pytest
from device_programs import Program, check_broken, check_right

RIGHT = [
    Program(
        "grad-of-a-loss",
        """
weight = torch.ones(3, device="cuda")
data = torch.ones(4, 3, device="cuda")


def loss(weight, data):
    return (data @ weight).sum()


gradient = torch.func.grad(loss)(weight, data)
weight = weight - 0.1 * gradient
""",
    ),
    Program(
        "grad-with-aux",
        """
from torch.func import grad, grad_and_value


def loss(w, x):
    out = x * w
    return out.sum(), out


w, x = torch.ones(3, device="cuda"), torch.ones(3, device="cuda")
g, out = grad(loss, has_aux=True)(w, x)
(gw, gx), (value, out) = grad_and_value(loss, argnums=(0, 1), has_aux=True)(w, x)
g + out + gw + gx + value
""",
    ),
    Program(
        "vmap-over-a-batch",
        """
model = nn.Linear(3, 2).cuda()
weight = torch.ones(3, device="cuda")
batched = torch.vmap(torch.dot, in_dims=(0, None))(torch.ones(5, 3, device="cuda"), weight)
out = torch.func.vmap(model)(torch.ones(5, 3, device="cuda"))
out + batched[:, None]
""",
    ),
    Program(
        "vmap-out-dims-none",
        """
x = torch.ones(3, device="cuda")
two = torch.vmap(lambda i: torch.tensor(2.0), out_dims=None)(torch.ones(3))
x * two
""",
    ),
    Program(
        "vmap-index",
        """
x = torch.ones(3, 2, device="cuda")
y = torch.vmap(lambda row, s: row * s, in_dims=(0, None))(x, torch.tensor(2.0))
y + x
z = torch.vmap(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))({"a": x, "b": torch.tensor(3.0)})
z + x
""",
    ),
    Program(
        "decorators",
        """
from functools import partial


@torch.vmap
def double(x):
    return x * torch.ones(2, device="cuda")


@partial(torch.vmap, in_dims=(0, None))
def product(x, y):
    return x * y


@torch.func.grad
def slope(x):
    return (x**2).sum()


x = torch.ones(3, 2, device="cuda")
double(x) + product(x, torch.ones(2, device="cuda")) + slope(x)
""",
    ),
    Program(
        "jacobians",
        """
from torch.func import hessian, jacfwd, jacrev

x = torch.ones(3, device="cuda")
jacrev(torch.sin)(x) + jacfwd(torch.sin)(x) + hessian(lambda v: (v**3).sum())(x) + x
""",
    ),
    Program(
        "jacobian-of-a-number",
        """
g = torch.func.jacrev(torch.sin)(torch.tensor(0.5))
h = torch.func.hessian(torch.sin)(torch.tensor(0.5))
k = torch.func.grad(torch.sin)(torch.tensor(0.5))
torch.ones(3, device="cuda") * g * h * k
""",
    ),
    Program(
        "vjp-and-jvp",
        """
from torch.func import jvp, linearize, vjp

x = torch.ones(3, device="cuda")
out, pull = vjp(torch.sin, x)
(g,) = pull(torch.ones_like(out))
out, tangent = jvp(torch.sin, (x,), (torch.ones(3, device="cuda"),))
value, push = linearize(torch.sin, x)
g + tangent + push(x) + value
""",
    ),
    Program(
        "vjp-of-two",
        """
x, y = torch.ones(3, device="cuda"), torch.ones(3, device="cuda")
out, pull = torch.func.vjp(lambda a, b: (a * b, a.sum()), x, y)
gx, gy = pull((torch.ones(3, device="cuda"), torch.ones((), device="cuda")))
gx + gy + x
""",
    ),
    Program(
        "functionalize",
        """
f = torch.func.functionalize(lambda x: x.add_(1).relu_())
f(torch.ones(3, device="cuda")) + torch.ones(3, device="cuda")
""",
    ),
    Program(
        "autograd-functional",
        """
from torch.autograd import forward_ad
from torch.autograd.functional import hessian, jacobian, jvp, vjp

x = torch.ones(3, device="cuda")
jacobian(torch.sin, x) + hessian(lambda v: v.sin().sum(), x) + x
out, g = vjp(torch.sin, x, torch.ones(3, device="cuda"))
out2, t = jvp(torch.sin, x, torch.ones(3, device="cuda"))
g + t + out + out2 + x
a, b = jacobian(lambda p, q: p * q, (x, x))
a + b + x
with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, torch.ones(3, device="cuda"))
    primal, tangent = forward_ad.unpack_dual(torch.sin(dual))
    tangent + primal + x
""",
    ),
    Program(
        "functorch-legacy",
        """
import functorch

model = nn.Linear(3, 1).cuda()
func, params, buffers = functorch.make_functional_with_buffers(model)
out = func(params, buffers, torch.ones(2, 3, device="cuda"))
g = functorch.grad(lambda p: func(p, buffers, torch.ones(2, 3, device="cuda")).sum())(params)
g[0] + params[0]
""",
    ),
]

BROKEN = [
    Program(
        "grad",
        """
def loss(weight, data):
    return (data @ weight).sum()


torch.func.grad(loss)(torch.ones(3), torch.ones(4, 3, device="cuda"))
""",
    ),
    Program(
        "grad-result",
        """
gradient = torch.func.grad(lambda w: (w**2).sum())(torch.ones(3))
torch.ones(3, device="cuda") - gradient
""",
    ),
    Program(
        "grad-and-value",
        """
g, value = torch.func.grad_and_value(lambda w: (w**2).sum())(torch.ones(3, device="cuda"))
g - torch.ones(3)
""",
    ),
    Program(
        "vmap",
        """
torch.vmap(torch.dot, in_dims=(0, None))(torch.ones(5, 3, device="cuda"), torch.ones(3))
""",
    ),
    Program(
        "vmap-module",
        """
model = nn.Linear(3, 2).cuda()
torch.func.vmap(model)(torch.ones(5, 3))
""",
    ),
    Program(
        "vmap-result",
        """
out = torch.vmap(lambda row: row.sum())(torch.ones(5, 3))
out * torch.ones(5, device="cuda")
""",
    ),
    Program(
        "vmap-in-vmap",
        """
from torch.func import vmap


def kernel(x, y):
    return (x - y).pow(2).sum()


a, b = torch.ones(5, 3, device="cuda"), torch.ones(4, 3)
vmap(lambda x: vmap(lambda y: kernel(x, y))(b))(a)
""",
    ),
    Program(
        "jacrev",
        """
from torch.func import jacrev

jacobian = jacrev(torch.sin)(torch.ones(3))
jacobian @ torch.ones(3, device="cuda")
""",
    ),
    Program(
        "hessian",
        """
torch.func.hessian(lambda v: (v * torch.ones(3)).sum())(torch.ones(3, device="cuda"))
""",
    ),
    Program(
        "vjp",
        """
out, pull = torch.func.vjp(torch.sin, torch.ones(3, device="cuda"))
pull(torch.ones(3))
""",
    ),
    Program(
        "vjp-starred",
        """
inputs = (torch.ones(3), torch.ones(3, device="cuda"))
out, pull = torch.func.vjp(torch.dot, *inputs)
""",
    ),
    Program(
        "jvp",
        """
torch.func.jvp(torch.sin, (torch.ones(3, device="cuda"),), (torch.ones(3),))
""",
    ),
]


@pytest.mark.parametrize("program", RIGHT, ids=str)
def test_a_right_program_runs_and_nothing_is_reported(program):
    check_right(program)


@pytest.mark.parametrize("program", BROKEN, ids=str)
def test_a_broken_program_fails_on_its_last_line_and_is_reported(program):
    check_broken(program)
