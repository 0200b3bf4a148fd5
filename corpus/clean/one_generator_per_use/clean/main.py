import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def seeded(device, seed=3):
    generator = torch.Generator(device=device)
    generator.manual_seed(seed)
    return generator


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_default_device(device)
    torch.manual_seed(0)
    x = torch.linspace(0, 1, 32).reshape(16, 2)
    loader = DataLoader(TensorDataset(x), batch_size=4, shuffle=True, generator=seeded(device))
    plain = DataLoader(TensorDataset(x), batch_size=8)
    order = torch.randperm(16, generator=seeded("cpu"), device="cpu")
    model = nn.Linear(2, 1)
    nn.init.ones_(model.weight)
    nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for (batch,) in loader:
        loss = (model(batch) - batch.sum(dim=1, keepdim=True) / 2).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
    print("held", sum(model(batch).mean().item() for (batch,) in plain), order[:3].tolist())


main()
