"""Wrong programs that use the features of ``programs/`` fail with PyTorch's words."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, jacrev, vmap

from conformance.words import elsewhere
from devfix.simulator import Simulator

from .programs.subclasses import _Wrapped

pytestmark = pytest.mark.filterwarnings("ignore")

MIXED = r"Expected all tensors to be on the same device|Input type|should be either on cpu|same device"


def _captured() -> Any:
    weight = torch.ones(4)
    return grad(lambda x: (x * weight).sum())(torch.ones(4, device="cuda"))


def _graph() -> Any:
    graph, mask = torch.cuda.CUDAGraph(), torch.ones(3)
    with torch.cuda.graph(graph):
        return torch.ones(3, device="cuda") * mask


def _checkpointed() -> Any:
    mask = torch.ones(3)
    x = torch.ones(3, device="cuda", requires_grad=True)
    return torch.utils.checkpoint.checkpoint(lambda given: given * mask, x, use_reentrant=False)


def _amp() -> Any:
    with torch.autocast("cuda", torch.bfloat16):
        return torch.ones(2, 2, device="cuda") @ torch.ones(2, 2)


def _generator() -> Any:
    return torch.randn(3, device="cuda", generator=torch.Generator())


def _scripted() -> Any:
    model = torch.jit.script(nn.Linear(2, 2).cuda())
    return model(torch.ones(1, 2))


def _exported() -> Any:
    exported = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))
    return exported.module()(torch.ones(1, 2, device="cuda"))


def _flexible() -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    slopes = torch.ones(1)
    q = torch.ones(1, 1, 16, 16, device="cuda")
    return flex_attention(q, q, q, score_mod=lambda score, b, h, i, j: score * slopes[h])


#: Name -> program, and what its error says.
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "in vmap": (lambda: vmap(lambda row: row + torch.ones(3))(torch.ones(2, 3, device="cuda")), MIXED),
    "in vmap of a product": (lambda: vmap(lambda row: row @ torch.ones(3, 2))(torch.ones(2, 3, device="cuda")), MIXED),
    "a tensor that grad captures": (_captured, MIXED),
    "in jacrev": (lambda: jacrev(lambda x: x * torch.ones(3))(torch.ones(3, device="cuda")), MIXED),
    "weights of a functional call": (lambda: functional_call(nn.Linear(2, 2), dict(nn.Linear(2, 2).named_parameters()), (torch.ones(1, 2, device="cuda"),)), MIXED),
    "in a traced function": (lambda: torch.jit.trace(lambda x: x + torch.ones(2), (torch.ones(2, device="cuda"),)), MIXED),
    "input of a scripted module": (_scripted, MIXED),
    "input of an exported module": (_exported, MIXED),
    "in a compiled function": (lambda: torch.compile(lambda x: x + torch.ones(2))(torch.ones(2, device="cuda")), MIXED),
    "sparse with a matrix on the CPU": (lambda: torch.sparse.mm(torch.eye(3).to_sparse().cuda(), torch.ones(3, 2)), "device|cuda"),
    "sparse rows with a vector on the CPU": (lambda: torch.eye(3).to_sparse_csr().cuda() @ torch.ones(3), "device|cuda"),
    "a generator of the CPU": (_generator, "Expected a 'cuda' device type for generator but found 'cpu'"),
    "nested with nested on the CPU": (lambda: torch.nested.nested_tensor([torch.ones(2)]).cuda() + torch.nested.nested_tensor([torch.ones(2)]), "device"),
    "a linear layer of nested tensors": (lambda: nn.Linear(2, 2)(torch.nested.nested_tensor([torch.ones(2, 2)], layout=torch.jagged, device="cuda")), MIXED),
    "inner tensors of a wrapper": (lambda: _Wrapped(torch.ones(2, 2).cuda()) @ _Wrapped(torch.ones(2, 2)), MIXED),
    "while a graph is captured": (_graph, MIXED),
    "in a checkpoint": (_checkpointed, MIXED),
    "in an autocast region": (_amp, MIXED + "|mat2"),
    "in flexible attention": (_flexible, MIXED),
    "pinned memory is the CPU's": (lambda: torch.ones(2, pin_memory=True) + torch.ones(2, device="cuda"), MIXED),
    "pinning on the device": (lambda: torch.ones(2, device="cuda").pin_memory(), "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"),
    "an item during a capture": (lambda: _read_while_capturing(), "operation not permitted when stream is capturing"),
    "a tensor of DLPack": (lambda: torch.from_dlpack(torch.ones(2, device="cuda")) + torch.ones(2), MIXED),
}  # fmt: skip


def _read_while_capturing() -> Any:
    x = torch.ones(1, device="cuda")
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        return x.item()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_fails_as_on_the_device(name: str) -> None:
    program, words = WRONG[name]
    with Simulator(), pytest.raises(RuntimeError, match=words):
        program()


def test_the_operand_is_named_in_vmap() -> None:
    weight = torch.ones(3, 2)
    with Simulator(), pytest.raises(RuntimeError, match=elsewhere("mat2", "cpu", "cuda:0").split("(")[0]):
        vmap(lambda row: row @ weight)(torch.ones(2, 3, device="cuda"))
