"""Examples of factories: a tensor made without ``device=`` meets a tensor on the accelerator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from benchmarks.knowledge.examples import Example, Operand, moved

__all__ = ["FACTORIES", "GROUP", "SPARSE", "UNPLACED", "factory_examples"]

GROUP = "factories"

#: Calls that take ``device=``.
FACTORIES = (
    "torch.arange(3)",
    "torch.as_tensor([1.0, 2.0])",
    "torch.asarray([1.0, 2.0])",
    "torch.bartlett_window(4)",
    "torch.blackman_window(4)",
    "torch.empty(3)",
    "torch.empty_permuted((2, 3), (1, 0))",
    "torch.empty_strided((2, 3), (3, 1))",
    "torch.eye(3)",
    "torch.fft.fftfreq(4)",
    "torch.fft.rfftfreq(4)",
    "torch.full((3,), 0.5)",
    "torch.hamming_window(4)",
    "torch.hann_window(4)",
    "torch.kaiser_window(4)",
    "torch.linspace(0, 1, 4)",
    "torch.logspace(0, 1, 4)",
    "torch.normal(0.0, 1.0, (3,))",
    "torch.ones(3)",
    "torch.rand(3)",
    "torch.randint(5, (3,))",
    "torch.randn(3)",
    "torch.randperm(3)",
    "torch.tensor([1.0, 2.0])",
    "torch.tril_indices(3, 3)",
    "torch.triu_indices(3, 3)",
    "torch.zeros(3)",
    "torch.empty_like(torch.ones(3))",
    "torch.full_like(torch.ones(3), 0.5)",
    "torch.ones_like(torch.ones(3))",
    "torch.rand_like(torch.ones(3))",
    "torch.randint_like(torch.ones(3), 5)",
    "torch.randn_like(torch.ones(3))",
    "torch.zeros_like(torch.ones(3))",
    "torch.ones(3).new_empty(4)",
    "torch.ones(3).new_empty_strided((2, 3), (3, 1))",
    "torch.ones(3).new_full((4,), 0.5)",
    "torch.ones(3).new_ones(4)",
    "torch.ones(3).new_tensor([1.0, 2.0])",
    "torch.ones(3).new_zeros(4)",
    "torch.signal.windows.bartlett(4)",
    "torch.signal.windows.blackman(4)",
    "torch.signal.windows.cosine(4)",
    "torch.signal.windows.exponential(4)",
    "torch.signal.windows.gaussian(4)",
    "torch.signal.windows.general_cosine(4, a=[0.5, 0.5])",
    "torch.signal.windows.general_hamming(4)",
    "torch.signal.windows.hamming(4)",
    "torch.signal.windows.hann(4)",
    "torch.signal.windows.kaiser(4)",
    "torch.signal.windows.nuttall(4)",
)

#: Calls that take ``device=`` and return a sparse 2 x 2 matrix.
SPARSE = (
    "torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))",
    "torch.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 2.0], (2, 2))",
    "torch.sparse_csc_tensor([0, 1, 2], [1, 0], [1.0, 2.0], (2, 2))",
    "torch.sparse_bsr_tensor([0, 1], [0], [[[1.0, 2.0], [3.0, 4.0]]], (2, 2))",
    "torch.sparse_compressed_tensor([0, 1, 2], [1, 0], [1.0, 2.0], (2, 2), layout=torch.sparse_csr)",
)

#: Calls without ``device=``: the result is moved.
UNPLACED = (
    "torch.from_numpy(np.ones(3))",
    "torch.frombuffer(bytearray(4), dtype=torch.uint8)",
    "torch.from_dlpack(np.ones(3))",
    "torch.Tensor([1.0, 2.0])",
    "torch.FloatTensor([1.0, 2.0])",
    "torch.LongTensor([1, 2])",
    "torch.ones(3).new([1.0, 2.0])",
)


def factory_examples() -> Iterator[tuple[str, str, Iterable[Example]]]:
    """Yield each factory with its example."""
    for source in FACTORIES:
        yield _entry(source, f'{source[:-1]}, device="cuda")', "result = data + made")
    for source in SPARSE:
        yield _entry(source, f'{source[:-1]}, device="cuda")', "result = made @ data")
    for source in UNPLACED:
        yield _entry(source, f"{source}.cuda()", "result = data + made")


def _entry(cpu: str, accelerator: str, statement: str) -> tuple[str, str, list[Example]]:
    name = _name(cpu)
    imports = ("import numpy as np",) if "np." in cpu else ()
    shape = ", ".join(map(str, _shape(cpu))) or "2"
    example = Example(
        GROUP,
        name,
        (moved("data", f"torch.rand({shape})"), Operand("made", cpu, accelerator)),
        statement,
        imports,
        broken=(frozenset({1}),),
    )
    return GROUP, name, [example]


def _name(source: str) -> str:
    """Return the name of the outermost call: ``torch.zeros``, ``Tensor.new_zeros``."""
    head, _, rest = source.partition("(")
    return f"Tensor{rest.partition(')')[2].partition('(')[0]}" if ")." in source else head


def _shape(source: str) -> tuple[int, ...]:
    return tuple(eval(source, {"torch": torch, "np": np}).shape)
