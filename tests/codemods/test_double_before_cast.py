"""DEV821 by example: NumPy data that is moved before it is cast."""

import pytest

CODE = "DEV821"
HEAD = "import numpy as np\nimport torch\n\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"

LATER = """
def f(a):
    t = torch.from_numpy(a)
    t = t.to({})
    n = 3
    t = t.float()
    return t, n
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = torch.from_numpy(a).to(device).float()\n", "x = torch.from_numpy(a).to(device, torch.float32)\n"),
        (
            "x = torch.tensor(np.array([0.5, 1])).to(device, non_blocking=True).half()\n",
            "x = torch.tensor(np.array([0.5, 1])).to(device, torch.float16, non_blocking=True)\n",
        ),
        (
            "x = torch.from_numpy(a)[0].unsqueeze(0).to(device).to(torch.float32)\n",
            "x = torch.from_numpy(a)[0].unsqueeze(0).to(device, torch.float32)\n",
        ),
        (
            "y = torch.from_numpy(a).cuda(non_blocking=True).float()\n",
            "y = torch.from_numpy(a).float().cuda(non_blocking=True)\n",
        ),
        (
            LATER.format("device"),
            LATER.format("device, torch.float32"),
        ),
    ],
)
def test_the_move_casts(before, after, repair):
    assert repair(CODE, HEAD + before) == HEAD + after
    assert repair(CODE, HEAD + after) == HEAD + after


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.rand(3).to(device).float()\n",
        "import cv2\n\ndef f(path):\n    a = cv2.imread(path)\n    return torch.from_numpy(a).to(device).float()\n",
        "def f(x):\n    return x.to(device).float()\n",
        "x = torch.from_numpy(a).to(torch.float16).float()\n",
        "x = torch.from_numpy(a).to(device).double()\n",
        "x = torch.from_numpy(a).to(device)\nprint(x.max())\nx = x.float()\n",
        "x = torch.from_numpy(a).to(device)\ny = x.float()\nprint(x.dtype)\n",
        "x = torch.from_numpy(a).to(device)\nif a:\n    x = x.float()\n",
    ],
)
def test_left_alone(text, repair):
    assert repair(CODE, HEAD + text) == HEAD + text
