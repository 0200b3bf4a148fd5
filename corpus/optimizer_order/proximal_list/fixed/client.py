import torch
from torch import nn


def proximal(model, start):
    return sum((p - s).norm(2) ** 2 for p, s in zip(model.parameters(), start))


def local_update(model, batches, device, mu=0.01):
    model = model.to(device)
    start = [p.clone().detach() for p in model.parameters()]
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        x = x.to(device)
        y = y.to(device)
        loss = nn.functional.cross_entropy(model(x), y) + mu * proximal(model, start)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


def main():
    torch.manual_seed(6)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = torch.utils.data.TensorDataset(torch.randn(24, 4), torch.arange(24) % 3)
    local_update(nn.Linear(4, 3), torch.utils.data.DataLoader(data, batch_size=6), device)


main()
