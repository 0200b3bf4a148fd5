"""Subclasses of tensors, modes, and operators that a program defines."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import FlopCounterMode


class _Named(torch.Tensor):
    """A tensor with a name that its results keep."""

    label: str = ""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, cls):
            result.label = next((each.label for each in args if isinstance(each, cls)), "")
        return result


class _Wrapped(torch.Tensor):
    """A tensor around another, which counts the operators that it sees."""

    seen = 0
    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Any:
        return torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            dtype=inner.dtype,
            device=inner.device,
            requires_grad=inner.requires_grad,
        )

    def __init__(self, inner: torch.Tensor) -> None:
        self.inner = inner

    def __repr__(self, **_: Any) -> str:
        return f"_Wrapped({self.inner})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.seen += 1
        unwrap = lambda value: value.inner if isinstance(value, _Wrapped) else value  # noqa: E731
        result = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        return tree_map(lambda value: cls(value) if isinstance(value, torch.Tensor) else value, result)


class _Attached(torch.Tensor):
    """A subclass with data of its own, which only looks on."""

    @staticmethod
    def __new__(cls, data: torch.Tensor) -> Any:
        return torch.Tensor._make_subclass(cls, data)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        plain = lambda value: value.as_subclass(torch.Tensor) if isinstance(value, cls) else value  # noqa: E731
        with torch._C._DisableTorchDispatch() if hasattr(torch._C, "_DisableTorchDispatch") else torch.no_grad():
            return func(*tree_map(plain, args), **tree_map(plain, kwargs or {}))


class _Log(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.devices: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.devices.add(result.device.type)
        return result


class _Doubling(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return result * 2 if func is torch.sin else result


def subclass_with_torch_function(device: str) -> Any:
    x = torch.randn(3).to(device).as_subclass(_Named)
    x.label = "points"
    y = (x + 1).exp().to(device)
    assert y.label == "points" and y.device.type == device and isinstance(y.cpu(), _Named)
    return y.as_subclass(torch.Tensor)


def subclass_with_torch_dispatch(device: str) -> Any:
    x = _Wrapped(torch.randn(3, 3).to(device))
    assert x.device.type == device and x.is_cuda == (device == "cuda")
    y = (x @ x + 1).relu().sum()
    assert isinstance(y, _Wrapped) and y.device.type == device and y.inner.device.type == device
    return y.inner


def gradients_through_a_wrapper(device: str) -> Any:
    weight = nn.Parameter(_Wrapped(torch.randn(3, 2).to(device)))
    (torch.ones(4, 3, device=device) @ weight).square().sum().backward()
    assert weight.grad is not None and weight.grad.device.type == device
    return weight.grad.inner


def wrapper_with_parts(device: str) -> Any:
    from torch.testing._internal.two_tensor import TwoTensor

    x = TwoTensor(torch.randn(3, 2).to(device), torch.randn(3, 2).to(device))
    model = nn.Linear(2, 2).to(device)
    y = model(x).sum()
    return y.a, y.b


def wrapper_that_moves(device: str) -> Any:
    x = _Wrapped(torch.randn(4))
    moved = x.to(device)
    assert isinstance(moved, _Wrapped) and moved.device.type == device and moved.inner.device.type == device
    assert moved.cpu().device.type == "cpu"
    return moved.inner


def parameter_of_a_subclass(device: str) -> Any:
    class Weight(nn.Parameter):
        pass

    model = nn.Linear(3, 2)
    model.weight = Weight(torch.randn(2, 3))
    model.to(device)
    model(torch.ones(1, 3, device=device)).sum().backward()
    return model.weight.grad


def mode_that_logs(device: str) -> Any:
    with _Log() as log:
        y = nn.Linear(3, 2).to(device)(torch.ones(1, 3, device=device)).relu()
    assert "aten.relu.default" in log.names and device in log.devices
    return y


def mode_of_functions(device: str) -> Any:
    x = torch.randn(3).to(device)
    with _Doubling():
        return torch.sin(x), torch.cos(x)


def counted_operations(device: str) -> Any:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(3, 4, device=device)).sum().backward()
    return counter.get_total_flops()


_LIBRARY: list[Any] = []


def _operator() -> Any:
    """Return a custom operator with gradients, defined once."""
    if not _LIBRARY:

        @torch.library.custom_op("devfix_programs::scaled_sum", mutates_args=())
        def scaled_sum(x: torch.Tensor, by: float) -> torch.Tensor:
            return (x * by).sum(0) + torch.zeros(x.shape[1:], device=x.device)

        @scaled_sum.register_fake
        def _(x: torch.Tensor, by: float) -> torch.Tensor:
            return x.new_empty(x.shape[1:])

        def backward(ctx: Any, slope: torch.Tensor) -> Any:
            return slope.expand(ctx.shape) * ctx.by, None

        def setup(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.shape, ctx.by = inputs[0].shape, inputs[1]

        scaled_sum.register_autograd(backward, setup_context=setup)
        _LIBRARY.append(scaled_sum)
    return _LIBRARY[0]


def custom_operator(device: str) -> Any:
    x = torch.randn(3, 2).to(device).requires_grad_()
    y = _operator()(x, 2.0)
    assert y.device.type == device
    y.sum().backward()
    return y, x.grad


def traced_by_fx(device: str) -> Any:
    model = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).to(device))
    torch.fx.passes.shape_prop.ShapeProp(model).propagate(torch.ones(2, 3, device=device))
    return model(torch.randn(2, 3).to(device))


def causal_bias(device: str) -> Any:
    from torch.nn.attention.bias import causal_lower_right

    q, k = torch.randn(1, 2, 3, 4).to(device), torch.randn(1, 2, 5, 4).to(device)
    return nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(3, 5))


def subclass_made_of_numbers(device: str) -> Any:
    class Point(torch.Tensor):
        pass

    point = Point([1.0, 2.0])
    moved = point.to(device)
    assert isinstance(moved, Point) and moved.device.type == device and type(torch.Tensor(2, 3)) is torch.Tensor
    return (moved * 2).as_subclass(torch.Tensor)


def fake_tensors(device: str) -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        outputs = nn.Linear(3, 4, device=device)(torch.empty(2, 3, device=device))
    assert outputs.device.type == device
    return list(outputs.shape), torch.ones(2, device=device).sum()


def module_without_memory(device: str) -> Any:
    with torch.device("meta"):
        model = nn.Linear(3, 2)
    assert {each.device.type for each in (*model.parameters(), model.weight + 1)} == {"meta"}
    model.to_empty(device=device)
    nn.init.ones_(model.weight)
    nn.init.zeros_(model.bias)
    return model(torch.ones(1, 3, device=device))
