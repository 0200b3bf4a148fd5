import functools
import re

from torch import nn


class Adapter(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def inject(root, spec):
    """spec: a pattern of dotted names, and what to build there."""
    for path in [name for name, _ in root.named_modules() if re.fullmatch(spec["match"], name)]:
        *way, last = path.split(".")
        parent = functools.reduce(getattr, way, root)
        setattr(parent, last, globals()[spec["kind"]](getattr(parent, last), **spec["options"]))
    return [p for p in root.parameters() if p.requires_grad]
