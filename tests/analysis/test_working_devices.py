"""Objects with two devices: placements on the one on which their method does not work."""

from __future__ import annotations

import pytest

from devfix.analysis.working_devices import mixed_placements
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
