from collections import UserDict

import torch


class Batch(UserDict):
    def to(self, device):
        return type(self)({key: getattr(value, "to", lambda _: value)(device) for key, value in self.items()})

    @classmethod
    def sample(cls, n):
        centres, sizes = torch.rand(n, 2), torch.rand(n, 2)
        image = torch.cat([centres - sizes / 2, centres + sizes / 2], dim=1)
        return cls(image=image, boxes=(centres, sizes), source="synthetic")
