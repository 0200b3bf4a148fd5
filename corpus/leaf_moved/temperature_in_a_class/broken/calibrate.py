import torch
from torch import nn


class Calibrator:
    def __init__(self, device):
        self.temperature = nn.Parameter(torch.full((1,), 1.5)).to(device)
        self.optimizer = torch.optim.SGD([self.temperature], lr=0.2)

    def fit(self, logits, labels):
        for step in range(4):
            loss = nn.functional.cross_entropy(logits / self.temperature, labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(step, loss.item())


def main():
    torch.manual_seed(4)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    logits, labels = torch.randn(20, 3).to(device), torch.randint(0, 3, (20,)).to(device)
    Calibrator(device).fit(logits, labels)


if __name__ == "__main__":
    main()
