import torch
from torch import nn


def step(model, x0, t):
    noise = torch.randn(x0.shape)
    xt = t * x0 + (1 - t) * noise
    return nn.functional.mse_loss(model(xt), noise)


def main():
    torch.manual_seed(8)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 6)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for i in range(5):
        x0 = torch.randn(8, 6).to(device)
        loss = step(model, x0, 0.1 + 0.2 * i)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(i, loss.item())


if __name__ == "__main__":
    main()
