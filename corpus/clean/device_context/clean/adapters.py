import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.adapter = nn.Identity()
        self.norm = nn.Identity()

    def forward(self, x):
        return self.norm(x + self.adapter(torch.relu(self.fc(x))))


def main():
    torch.manual_seed(2)
    device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
    model = nn.Sequential(Block(6), Block(6), nn.Linear(6, 1)).to(device)

    factory = {"device": device, "dtype": torch.float32}
    with torch.device(device):
        for block in model[:2]:
            block.adapter = nn.Linear(6, 6)
            nn.init.eye_(block.adapter.weight)
    for block in model[:2]:
        nn.init.zeros_(block.adapter.bias)
        block.norm = nn.LayerNorm(6, **factory)

    with torch.no_grad():
        for block in model[:2]:
            block.adapter.weight.copy_(torch.eye(6))

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    g = torch.Generator().manual_seed(1)
    for step in range(5):
        x = torch.randn(10, 6, generator=g)
        loss = (model(x.to(device)) - x.mean(1, keepdim=True).to(device)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


main()
