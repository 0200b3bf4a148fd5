import torch
import torch.nn as nn


class Autoregressive(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(dim, dim)])

    def grow(self):
        dim = self.blocks[-1].out_features
        self.blocks.append(nn.Linear(dim, dim))
        return len(self.blocks)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.tanh(block(x))
        return x


class Session:
    def __init__(self, device):
        self.device = device
        self.model = Autoregressive()
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=0.01)
        depth = self.model.grow()
        self.model.to(self.device)
        print("depth", depth)

    def step(self, x):
        x = x.to(self.device)
        loss = (self.model(x[:-1]) - x[1:]).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(44)
    session = Session(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    for i in range(5):
        print(i, session.step(torch.randn(20, 6).cumsum(0) * 0.1))
