import torch
import torch.nn as nn
import torch.nn.functional as F

import losses_patch


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 12), nn.ELU())
        self.heads = nn.ModuleList([nn.Linear(12, 4) for _ in range(2)])

    def forward(self, x):
        h = self.body(x)
        return [head(h) for head in self.heads]


def loop(model, device, steps=4):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        x = torch.randn(20, 5)
        y = (x[:, :4]).argmax(dim=1)
        x, y = x.to(device), y.to(device)
        loss = sum(F.cross_entropy(logits, y) for logits in model(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())


if __name__ == "__main__":
    torch.manual_seed(77)
    losses_patch.install([0.4, 0.3, 0.2, 0.1])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loop(Classifier().to(device), device)
