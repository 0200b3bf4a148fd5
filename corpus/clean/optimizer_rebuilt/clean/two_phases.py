import torch
import torch.nn as nn


def run(model, optimizer, device, task, steps=3):
    for step in range(steps):
        x = torch.randn(14, 6)
        y = task(x)
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


def main():
    torch.manual_seed(8)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    run(model, optimizer, device, lambda x: (x[:, 0] > 0).long())

    model[2] = nn.Linear(12, 3).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    run(model, optimizer, device, lambda x: x[:, :3].argmax(1))


if __name__ == "__main__":
    main()
