"""Modules that are loaded as a whole: their class is the only one with the method that is called."""

from __future__ import annotations

import pytest

NET = """
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(size, 3)
        self.scale = torch.ones(3)
        self.steps = [torch.ones(3)]

    def fuse(self):
        return self

    def forward(self, x):
        return self.layer(x) * self.scale
"""
LOADED = (
    NET
    + """
model = torch.load("a.pt", map_location={device!r}, weights_only=False)["model"].float().fuse().eval()
x = torch.ones(3, 3, device={device!r})
"""
)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("expression", ["model(x)", "model.scale", "model.steps[0]", "model.layer.weight"])
def test_a_restored_module_is_on_the_device_of_its_checkpoint(place, device, expression):
    expected = "accelerator" if device == "cuda" else "cpu"

    assert place(LOADED.format(device=device), expression) == expected


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("class Other(nn.Module):\n    def fuse(self):\n        return self", id="same-method"),
        pytest.param("class Other(Net):\n    pass", id="derived"),
    ],
)
def test_a_method_of_two_classes_tells_no_class(place, other):
    program = NET + other + '\nmodel = torch.load("a.pt", map_location="cuda", weights_only=False)["model"].fuse()'

    assert place(program, "model.layer.weight") == "accelerator"  # in the checkpoint
    assert place(program, "model(torch.ones(3))") != "cpu"


def test_a_restored_module_moves_as_any_other(met):
    program = NET + (
        'model = torch.load("a.pt", map_location="cpu", weights_only=False).fuse()\n'
        "model.layer(torch.ones(3))\n"
        "model.layer(torch.ones(3).cuda())\n"
        "model.cuda()\n"
        "model.layer(torch.ones(3).cuda())\n"
    )

    assert met(program) == ["model.layer(torch.ones(3).cuda())"]
