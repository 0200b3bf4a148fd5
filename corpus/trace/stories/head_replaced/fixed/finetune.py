import torch
import torch.nn as nn
import torch.nn.functional as F


class Backbone(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc(F.relu(self.body(x)))


def main():
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Backbone()
    model = model.to(device)
    for p in model.parameters():
        p.requires_grad = False
    model.fc = nn.Linear(16, 3)
    model = model.to(device)
    optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-2)
    for step in range(4):
        x = torch.randn(12, 8)
        y = x[:, :3].argmax(1)
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
