import json
from types import SimpleNamespace

import torch

TEXT = '{"agent": {"temperature": [1.0, 0.5, 2.0], "hidden": 12}, "run": {"steps": 6, "seed": 88}}'


def _value(x):
    return torch.tensor(x) if isinstance(x, list) else x


def read():
    return json.loads(TEXT, object_hook=lambda d: SimpleNamespace(**{k: _value(v) for k, v in d.items()}))
