import torch
from torch.utils.data import Dataset


class Ratings(Dataset):
    def __init__(self, split, users=20, items=30):
        g = torch.Generator().manual_seed(0 if split == "train" else 1)
        n = 48 if split == "train" else 16
        self.user = torch.randint(0, users, (n,), generator=g)
        self.item = torch.randint(0, items, (n,), generator=g)
        self.rating = 1 + 4 * torch.rand(n, generator=g)

    def __len__(self):
        return len(self.user)

    def __getitem__(self, i):
        return {"user": self.user[i], "item": self.item[i], "rating": self.rating[i], "source": "web"}
