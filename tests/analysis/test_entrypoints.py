"""Which files start a program."""

from __future__ import annotations

import ast

import pytest

from devfix.analysis.entrypoints import can_matter, starts_program


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("if __name__ == '__main__':\n    main()\n", id="guard"),
        pytest.param("def main():\n    pass\nmain()\n", id="own-function"),
        pytest.param("for x in y:\n    pass\n", id="loop"),
        pytest.param("model.to(device)\n", id="move"),
        pytest.param("x = model.cuda()\n", id="assigned-move"),
        pytest.param("state = torch.load('a.pt')\n", id="load"),
        pytest.param("with torch.no_grad():\n    pass\n", id="with"),
        pytest.param("if torch.cuda.is_available():\n    model.cuda()\n", id="under-an-if"),
        pytest.param("try:\n    run()\nfinally:\n    pass\n", id="inside-a-try"),
        pytest.param("trainer.fit()\n", id="fit"),
    ],
)
def test_a_script_starts_a_program(text):
    assert starts_program(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("import torch\nx = 1\n", id="constants"),
        pytest.param("class A:\n    def f(self):\n        self.model.to('cuda')\n", id="class"),
        pytest.param("def f():\n    model.to('cuda')\n", id="function"),
        pytest.param('"""Documentation."""\n__all__ = ["f"]\n', id="documentation"),
        pytest.param("import logging\nlogger = logging.getLogger(__name__)\nlogger.setLevel(10)\n", id="logger"),
        pytest.param("from .a import b\nfor x in y:\n    pass\n", id="part-of-a-package"),
        pytest.param("import sys\nsys.path.append('..')\n", id="path"),
        pytest.param("try:\n    import apex\nexcept ImportError:\n    apex = None\n", id="optional-import"),
        pytest.param("REGISTRY = {}\nREGISTRY.update(a=1)\n", id="registry"),
    ],
)
def test_a_library_file_does_not(text):
    assert not starts_program(ast.parse(text))


@pytest.mark.parametrize(
    ("raw", "matters"),
    [
        (b"import torch\n", True),
        (b"from train import main\nif __name__ == '__main__':\n    main()\n", True),
        (b"print('hello')\n", False),
        (b"", False),
        (b"if __name__ == '__main__':\n    print(1)\n", False),
        (b"import os\n", False),
    ],
)
def test_bytes_tell_whether_a_file_can_matter(raw, matters):
    assert can_matter(raw) is matters
