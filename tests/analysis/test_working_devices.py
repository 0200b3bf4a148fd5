"""Placements on another device than the one on which their function works."""

from __future__ import annotations

import pytest

from devfix.analysis.working_devices import ignored_devices, mixed_placements
from devfix.syntax.tree import SourceTree

CLASS = """
class Pipeline({base}):
    def encode(self, text, device=None):
        {told}
        return self.tokenizer(text).to({place})

    def prepare(self, image, device):
        return image.to({other})

    def __call__(self, text):
        device = {attribute}
        return self.encode(text, device)
{more}"""
PARTS = {
    "base": "Base",
    "told": "device = device or self._execution_device",
    "place": "device",
    "other": "device",
    "attribute": "self._execution_device",
    "more": "",
}


def _lines(**parts: str) -> list[str]:
    tree = SourceTree("lib.py", CLASS.format(**PARTS | parts))
    return [tree.line(found.placed.lineno) for found in mixed_placements(tree)]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"place": "self.device"}, id="to"),
        pytest.param({"place": "self.device, torch.float16"}, id="to-with-a-type"),
        pytest.param({"place": "device=self.device"}, id="keyword"),
        pytest.param(
            {
                "place": "self.device",
                "told": "device = device if device else self.run_device",
                "attribute": "self.run_device",
            },
            id="conditional",
        ),
    ],
)
def test_a_placement_elsewhere_is_found(parts):
    assert _lines(**parts) == [f"return self.tokenizer(text).to({parts['place']})"]


def test_a_method_that_is_told_its_device_works_on_it():
    assert _lines(other="self.device") == ["return image.to(self.device)"]


def test_a_factory_places_its_result():
    more = "        return torch.zeros(3, device=self.device)\n"
    assert _lines(told="device = self._execution_device; x = torch.ones(3, device=self.device)") == [
        "device = self._execution_device; x = torch.ones(3, device=self.device)"
    ]
    assert _lines(more=more) == ["return torch.zeros(3, device=self.device)"]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({}, id="everything-is-on-one-device"),
        pytest.param({"place": "self.vae.device"}, id="the-device-of-a-module"),
        pytest.param({"place": "self.device", "told": "device = device or self._device"}, id="two-names-of-one"),
        pytest.param({"place": "self.device", "told": "device = pick()"}, id="another-device-is-picked"),
        pytest.param({"told": "device = self._execution_device; self.vae.to(self.device)"}, id="own-modules-move"),
        pytest.param(
            {"place": "self.device", "more": "    def device(self):\n        return self._execution_device\n"},
            id="the-class-says-what-its-device-is",
        ),
    ],
)
def test_nothing_is_mixed(parts):
    assert _lines(**parts) == []


def test_a_placement_before_the_device_is_known_is_no_mix():
    text = CLASS.format(**PARTS | {"more": "    def later(self, x):\n        x = x.to(self.device)\n"})
    text += "        device = self._execution_device\n        return x.to(device)\n"

    assert list(mixed_placements(SourceTree("lib.py", text))) == []


def _ignored(text: str) -> list[tuple[str, str]]:
    tree = SourceTree("lib.py", text)
    return [(tree.source(found.placed), found.device) for found in ignored_devices(tree)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("def f(x, device):\n    return x.cuda()\n", ("x.cuda()", "device"), id="cuda"),
        pytest.param("def f(x, *, device='cuda'):\n    return x.to('cuda')\n", ("'cuda'", "device"), id="to"),
        pytest.param("def f(device):\n    return zeros(3, device='cuda')\n", ("'cuda'", "device"), id="factory"),
        pytest.param("def f(x, device, n):\n    if n:\n        x = x.cuda()\n", ("x.cuda()", "device"), id="number"),
        pytest.param(
            "class A:\n    def __init__(self, device):\n        self.device = torch.device(device)\n\n"
            "    def f(self, x):\n        return x.cuda()\n",
            ("x.cuda()", "self.device"),
            id="object",
        ),
    ],
)
def test_a_function_that_is_told_its_device_ignores_it(text, expected):
    assert _ignored(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x, device):\n    return x.to(device)\n", id="used"),
        pytest.param("def f(x):\n    return x.cuda()\n", id="told-nothing"),
        pytest.param("def f(x, device=None):\n    return x.cuda()\n", id="told-nothing-by-default"),
        pytest.param("def f(x, *, device='cpu'):\n    return x.cuda()\n", id="the-cpu-by-default"),
        pytest.param("def f(x, *, device='gpu'):\n    return x.cuda()\n", id="no-device-by-default"),
        pytest.param("def test_f(x, device):\n    return x.cuda()\n", id="test"),
        pytest.param("def f(x, device):\n    return x.cuda(device)\n", id="an-index"),
        pytest.param(
            "def f(x, device):\n    if device != 'cpu':\n        x = x.cuda()\n    return x\n", id="condition"
        ),
        pytest.param("def f(x, device):\n    return x.cuda() if use_gpu else x\n", id="expression"),
        pytest.param("def f(x, device):\n    try:\n        return x.cuda()\n    except E:\n        pass\n", id="try"),
        pytest.param("def f(x, device):\n    device = pick(device)\n    return x.cuda()\n", id="bound-again"),
        pytest.param("def f(x, device):\n    torch.cuda.synchronize()\n    return x.cuda()\n", id="cuda-only"),
        pytest.param("def f(x, device):\n    return x.cuda() if x.is_cuda else x\n", id="asks"),
        pytest.param(
            "class A:\n    def __init__(self, device):\n        self.device = device\n\n"
            "    def cuda(self):\n        return self.to('cuda')\n",
            id="its-own-cuda",
        ),
        pytest.param(
            "class A:\n    def __init__(self, device):\n        self.device = device\n        self.device = pick()\n\n"
            "    def f(self, x):\n        return x.cuda()\n",
            id="another-device-later",
        ),
    ],
)
def test_what_a_device_decides_is_not_ignored(text):
    assert _ignored(text) == []


def test_a_function_that_programs_call_is_left_out():
    tree = SourceTree("lib.py", "def f(x, device):\n    return x.cuda()\n")

    assert list(ignored_devices(tree, {1})) == []
