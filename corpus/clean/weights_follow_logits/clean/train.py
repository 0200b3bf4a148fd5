import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, weight=None):
        super().__init__()
        self.gamma = gamma
        self.weight = weight

    def forward(self, logits, target):
        weight = self.weight.to(logits.device) if self.weight is not None else None
        log_p = F.log_softmax(logits, dim=1)
        ce = F.nll_loss(log_p, target, weight=weight, reduction="none")
        p = log_p.exp().gather(1, target[:, None]).squeeze(1)
        return ((1 - p) ** self.gamma * ce).mean()


def balanced(logits, target, weights):
    return F.cross_entropy(logits, target, weight=weights.to(logits))


if __name__ == "__main__":
    torch.manual_seed(29)
    dev = "cuda" if torch.cuda.is_available() else "cpu"
    weights = torch.tensor([0.5, 1.0, 2.0])
    print("prior:", (weights / weights.sum()).numpy().round(2).tolist())
    net = nn.Linear(6, 3).to(dev)
    focal = FocalLoss(weight=weights)
    plain = nn.CrossEntropyLoss(reduction="mean")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        x, y = torch.randn(9, 6).to(dev), torch.randint(0, 3, (9,)).to(dev)
        logits = net(x)
        loss = focal(logits, y) + plain(logits, y) + balanced(logits, y, weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
