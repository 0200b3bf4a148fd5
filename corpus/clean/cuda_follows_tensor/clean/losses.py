import torch
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, gamma=2, alpha=None):
        super().__init__()
        self.gamma = gamma
        self.alpha = alpha

    def forward(self, logits, target):
        one_hot = torch.zeros(logits.size())
        if logits.is_cuda:
            one_hot = one_hot.cuda()
        one_hot.scatter_(1, target.view(-1, 1), 1.0)
        weight = torch.ones(logits.size(1))
        weight = weight.cuda() if target.is_cuda else weight
        p = logits.softmax(1).clamp(1e-6, 1.0)
        return -(weight * one_hot * (1 - p) ** self.gamma * p.log()).sum(1).mean()


def build(device):
    model = nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 4))
    if device.type == "cuda":
        model = model.cuda()
    return model


torch.manual_seed(12)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = build(device)
criterion = FocalLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    x = torch.randn(8, 7).to(device)
    y = torch.randint(0, 4, (8,)).to(device)
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
