"""Functions that run a module on inputs that they are given: the inputs must be where the weights are."""

from __future__ import annotations

import pytest

SETUP = """
import thop
from fvcore.nn import FlopCountAnalysis
from thop import profile

device = torch.device("cuda")
net = nn.Linear(3, 3).to(device)
host = nn.Linear(3, 3)
x = torch.rand(2, 3)
there = x.to(device)
pair = (x, 3)
"""


@pytest.mark.parametrize(
    "call",
    [
        "torch.jit.trace(net, x)",
        "torch.jit.trace(net, (x,), strict=False)",
        "torch.jit.trace(func=net, example_inputs=x)",
        "torch.jit.trace(host, there)",
        "torch.onnx.export(net, x, 'net.onnx')",
        "torch.onnx.export(net, args=(torch.rand(2, 3),), f='net.onnx')",
        "torch.export.export(net, (x,))",
        "flops, parameters = profile(net, inputs=(x,), verbose=False)",
        "thop.profile(net, (torch.zeros(2, 3),))",
        "FlopCountAnalysis(net, x)",
    ],
)
def test_inputs_on_the_cpu_meet_weights_on_the_accelerator(met, call):
    assert met(SETUP + call) == [call]


@pytest.mark.parametrize(
    "call",
    [
        "torch.jit.trace(net, there)",
        "torch.jit.trace(host, x)",
        "torch.onnx.export(net.cpu(), x, 'net.onnx')",
        "torch.onnx.export(net, pair, 'net.onnx')",
        "torch.onnx.export(net, (*[x],), 'net.onnx')",
        "torch.jit.trace(lambda y: y, x)",
        "torch.jit.script(net)",
        "profile(net, inputs=(there,))[0] / 1e9",
        "FlopCountAnalysis(unknown, x).total()",
    ],
)
def test_inputs_beside_the_weights_and_what_is_no_tensor_are_left_alone(met, call):
    assert met(SETUP + call) == []
