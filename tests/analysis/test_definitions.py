"""Classes that decorators of the project put into tables."""

from __future__ import annotations

import pytest

PART = """
class Part(nn.Module):
    def forward(self, x):
        return x + torch.ones(3)
"""
REGISTRIES = [
    pytest.param(
        "PARTS = {}\n\ndef part(cls):\n    PARTS[cls.__name__] = cls\n    return cls\n\n@part" + PART,
        "PARTS['Part']()",
        id="plain-decorator",
    ),
    pytest.param(
        "PARTS = {}\n\ndef part(name):\n    def keep(cls):\n        PARTS[name] = cls\n        return cls\n"
        "    return keep\n\n@part('p')" + PART,
        "PARTS[{'name': 'p'}.pop('name')]()",
        id="decorator-with-a-name",
    ),
    pytest.param(
        "class Registry:\n    def __init__(self):\n        self.held = {}\n\n    def register(self, name=None):\n"
        "        def keep(cls):\n            self.held[name or cls.__name__] = cls\n            return cls\n"
        "        return keep\n\n    def build(self, kind, **kwargs):\n        return self.held[kind](**kwargs)\n\n"
        "PARTS = Registry()\n\n@PARTS.register()" + PART,
        "PARTS.build(kind='Part')",
        id="registry-object",
    ),
    pytest.param("@unknown.registered" + PART, "Part()", id="decorator-that-cannot-be-read"),
]


@pytest.mark.parametrize(("program", "made"), REGISTRIES)
def test_a_registered_class_is_found_in_its_table(met, program, made):
    text = program + f"\npart = {made}\npart(torch.zeros(3).cuda())\n"

    assert met(text) == ["return x + torch.ones(3)"]
