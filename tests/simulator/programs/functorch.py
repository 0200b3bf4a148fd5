"""``torch.func``, batched gradients, and forward-mode differentiation."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.autograd import forward_ad
from torch.func import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)
from torch.nn import functional as F  # noqa: N812  # everybody calls it so


def _network(device: str) -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)).to(device)


def _batch(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(6, 4).to(device), torch.randint(3, (6,)).to(device)


def gradient_of_a_functional_call(device: str) -> Any:
    model = _network(device)
    x, y = _batch(device)

    def loss(parameters: Any) -> torch.Tensor:
        return F.cross_entropy(functional_call(model, parameters, (x,)), y)

    return grad_and_value(loss)(dict(model.named_parameters()))


def gradients_of_each_sample(device: str) -> Any:
    model = _network(device)
    x, y = _batch(device)
    parameters = {name: each.detach() for name, each in model.named_parameters()}

    def loss(given: Any, sample: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(functional_call(model, given, (sample[None],)), target[None])

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    assert all(each.device.type == device for each in found.values())
    return found


def jacobian_in_reverse(device: str) -> Any:
    model, (x, _) = _network(device), _batch(device)
    return jacrev(model)(x[0]), vmap(jacrev(model))(x)


def jacobian_forward(device: str) -> Any:
    model, (x, _) = _network(device), _batch(device)
    return jacfwd(model)(x[0]), vmap(jacfwd(model))(x)


def hessian_of_a_network(device: str) -> Any:
    model, (x, _) = _network(device), _batch(device)
    return hessian(lambda point: model(point).square().sum())(x[0])


def vector_jacobian_product(device: str) -> Any:
    model, (x, _) = _network(device), _batch(device)
    output, pull = vjp(model, x)
    return output, pull(torch.ones(6, 3, device=device))


def jacobian_vector_product(device: str) -> Any:
    model, (x, _) = _network(device), _batch(device)
    return jvp(model, (x,), (torch.ones_like(x),))


def hessian_vector_product(device: str) -> Any:
    x = torch.randn(5).to(device)
    return jvp(grad(lambda point: point.sin().prod()), (x,), (torch.ones(5, device=device),))[1]


def ensemble(device: str) -> Any:
    models = [_network(device) for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    base = _network("meta")
    x, _ = _batch(device)

    def run(one: Any, other: Any, data: torch.Tensor) -> Any:
        return functional_call(base, (one, other), (data,))

    return vmap(run, in_dims=(0, 0, None))(parameters, buffers, x)


def random_numbers_in_vmap(device: str) -> Any:
    x = torch.ones(4, 10, device=device)
    different = vmap(lambda row: F.dropout(row, 0.5), randomness="different")(x)
    same = vmap(lambda row: row + torch.randn(10, device=row.device), randomness="same")(x)
    return different, same


def vmap_in_chunks(device: str) -> Any:
    x = torch.randn(10, 3).to(device)
    return vmap(lambda row: row.outer(row).logsumexp(0), chunk_size=4)(x)


def vmap_over_two_dimensions(device: str) -> Any:
    x, y = torch.randn(5, 2).to(device), torch.randn(7, 2).to(device)
    return vmap(vmap(lambda a, b: (a - b).norm(), (None, 0)), (0, None))(x, y)


def vmap_with_tensors_that_it_makes(device: str) -> Any:
    x = torch.randn(4, 5).to(device)

    def run(row: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(5, device=row.device)
        places = torch.arange(5, device=row.device)
        return total + torch.where(row > 0, row, row.new_full((5,), 0.5)) * F.one_hot(places, 5).sum(0)

    return vmap(run)(x)


def vmap_of_linear_algebra(device: str) -> Any:
    a = torch.randn(3, 4, 4).to(device) + 4 * torch.eye(4, device=device)
    b = torch.randn(3, 4).to(device)
    return vmap(torch.linalg.solve)(a, b), vmap(torch.linalg.det)(a)


def vmap_of_convolutions(device: str) -> Any:
    images, kernels = torch.randn(3, 2, 4, 8, 8).to(device), torch.randn(3, 5, 4, 3, 3).to(device)
    return vmap(lambda image, kernel: F.conv2d(image, kernel, padding=1))(images, kernels)


def vmap_of_indexing(device: str) -> Any:
    table = torch.randn(3, 6, 2).to(device)
    index = torch.randint(6, (3, 4)).to(device)
    return vmap(lambda rows, at: rows[at].cumsum(0))(table, index), vmap(torch.take, (0, 0))(table, index)


def gradient_with_auxiliary_output(device: str) -> Any:
    weight, x = torch.randn(3, 2).to(device), torch.randn(5, 3).to(device)
    return grad(lambda w, data: ((data @ w).square().sum(), data @ w), argnums=0, has_aux=True)(weight, x)


def gradient_of_a_gradient(device: str) -> Any:
    x = torch.randn(()).to(device)
    return [
        function(x) for function in (torch.sin, grad(torch.sin), grad(grad(torch.sin)), grad(grad(grad(torch.sin))))
    ]


def model_agnostic_meta_learning(device: str) -> Any:
    model = _network(device)
    x, y = _batch(device)
    parameters = {name: each.detach() for name, each in model.named_parameters()}

    def loss(given: Any, at: slice) -> torch.Tensor:
        return F.cross_entropy(functional_call(model, given, (x[at],)), y[at])

    def outer(given: Any) -> torch.Tensor:
        slopes = grad(loss)(given, slice(0, 3))
        adapted = {name: given[name] - 0.1 * slopes[name] for name in given}
        return loss(adapted, slice(3, 6))

    return grad(outer)(parameters)


def functionalized_program(device: str) -> Any:
    def run(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[0].add_(1)
        return y.mul_(2)

    return functionalize(run)(torch.randn(3, 2).to(device))


def batched_gradients(device: str) -> Any:
    x = torch.randn(4).to(device).requires_grad_()
    y = x.sin() * torch.arange(4.0, device=device)
    return torch.autograd.grad(y, x, torch.eye(4, device=device), is_grads_batched=True)


def vectorized_jacobian(device: str) -> Any:
    model, (x, _) = _network(device), _batch(device)
    jacobian = torch.autograd.functional.jacobian
    return (
        jacobian(model, x[0], vectorize=True),
        jacobian(model, x[0], vectorize=True, strategy="forward-mode"),
        jacobian(model, x[0]),
    )


def vectorized_hessian(device: str) -> Any:
    x = torch.randn(4).to(device)
    return torch.autograd.functional.hessian(lambda point: point.pow(3).sum(), x, vectorize=True)


def dual_numbers(device: str) -> Any:
    model, (x, _) = _network(device), _batch(device)
    with forward_ad.dual_level():
        output = model(forward_ad.make_dual(x, torch.ones_like(x)))
        return tuple(forward_ad.unpack_dual(output))


def neural_tangent_kernel(device: str) -> Any:
    model, (x, _) = _network(device), _batch(device)
    parameters = {name: each.detach() for name, each in model.named_parameters()}

    def one(given: Any, sample: torch.Tensor) -> torch.Tensor:
        return functional_call(model, given, (sample[None],)).squeeze(0)

    slopes = vmap(jacrev(one), (None, 0))(parameters, x)
    return sum(torch.einsum("naf,mbf->nmab", each.flatten(2), each.flatten(2)) for each in slopes.values())
