import torch
from torch.utils.data import Dataset


class Graphs(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        adj = (torch.rand(5, 5, generator=g) > 0.5).float()
        nodes = torch.randn(5, 4, generator=g)
        return {"id": f"g{i}", "nodes": nodes, "adj": adj}, adj.sum() / 5
