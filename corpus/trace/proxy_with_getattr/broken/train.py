import torch
import torch.nn.functional as F
from torch import nn

from proxy import Centred


def wrap(network, kind, **options):
    return {"plain": lambda n: n, "centred": lambda n: Centred(n, **options)}[kind](network)


def options_of(samples):
    return {name: getattr(samples, how)(dim=0) for name, how in {"centre": "mean", "spread": "std"}.items()}


def main():
    torch.manual_seed(25)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    samples = torch.randn(64, 6) + 3
    model = wrap(nn.Sequential(nn.Linear(6, 6), nn.Sigmoid(), nn.Linear(6, 6)), "centred", **options_of(samples))
    model.to(device)
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(2):
        for x in torch.utils.data.DataLoader(samples, batch_size=16):
            x = x.to(device)
            loss = F.l1_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, f"{loss.item():.5f}")


if __name__ == "__main__":
    main()
