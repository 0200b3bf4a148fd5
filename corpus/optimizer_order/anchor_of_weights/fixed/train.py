import torch
from torch import nn


class ConsolidationTrainer:
    def __init__(self, net, device, strength=0.1):
        self.net = net
        self.device = device
        self.strength = strength
        self.net.to(device)
        self.anchor = {name: value.clone() for name, value in net.state_dict().items()}
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def penalty(self):
        total = 0.0
        for name, param in self.net.named_parameters():
            total = total + (param - self.anchor[name]).pow(2).sum()
        return self.strength * total

    def step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        loss = nn.functional.mse_loss(self.net(x), y) + self.penalty()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    trainer = ConsolidationTrainer(nn.Linear(4, 2), device)
    for _ in range(4):
        x = torch.randn(8, 4)
        print(trainer.step(x, x[:, :2] * 2))


if __name__ == "__main__":
    main()
