import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize


class LowRank(nn.Module):
    def __init__(self, rows, columns, rank=2):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(rows, rank))
        self.b = nn.Parameter(torch.randn(rank, columns) * 0.02)

    def forward(self, weight):
        return weight + self.a @ self.b


def main():
    torch.manual_seed(44)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
    model = model.to(device)
    for p in model.parameters():
        p.requires_grad_(False)
    parametrize.register_parametrization(model[0], "weight", LowRank(12, 6).to(device))
    parametrize.register_parametrization(model[2], "weight", LowRank(3, 12).to(device))
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=1e-2)
    for step in range(5):
        x = torch.randn(16, 6).to(device)
        y = torch.randint(0, 3, (16,)).to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
