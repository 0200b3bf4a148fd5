"""DEV822 by example: float64 values on a device."""

import pytest

from devfix.config import Settings
from devfix.engine import fixpoint
from devfix.sources import SourceFile

HEAD = "import numpy as np\nimport torch\n\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"


def reported(tmp_path, text):
    file = SourceFile(str(tmp_path / "train.py"), (HEAD + text).encode(), HEAD + text)
    settings = Settings(select=("DEV822",), root=str(tmp_path))
    return [each.finding.span.line - 4 for each in fixpoint.check([file], settings).resolutions]


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.from_numpy(np.linspace(0, 1, 3)).to(device)\n",
        "x = torch.zeros(3, dtype=torch.float64, device=device)\n",
        "x = torch.ones(3).double().to(device)\n",
        "x = torch.as_tensor(np.random.rand(2, 2).T * 2).to(device)\n",
    ],
)
def test_a_double_on_the_device_is_listed(text, tmp_path):
    assert reported(tmp_path, text) == [1]


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.from_numpy(np.zeros(3, dtype=np.float32)).to(device)\n",
        "x = torch.from_numpy(np.zeros(3)).to(device).float()\n",
        "x = torch.from_numpy(np.zeros(3, np.float32)).to(device)\n",
        "x = torch.from_numpy(np.array([1, 2])).to(device)\n",
        "x = torch.zeros(3, dtype=torch.float64, device='cpu')\n",
        "x = torch.from_numpy(a).to(device)\n",
        "if device.type != 'mps':\n    x = torch.ones(3).double().to(device)\n",
    ],
)
def test_other_values_are_not(text, tmp_path):
    assert reported(tmp_path, text) == []
