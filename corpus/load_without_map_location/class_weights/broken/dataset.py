import torch


def make_data(n=90):
    g = torch.Generator().manual_seed(17)
    x = torch.randn(n, 7, generator=g)
    y = torch.multinomial(torch.tensor([0.7, 0.2, 0.1]), n, replacement=True, generator=g)
    return x, y
