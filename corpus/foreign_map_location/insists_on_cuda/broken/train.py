import argparse

import torch
from torch import nn

from net import Net


class Runner:
    def __init__(self, args):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = Net().to(self.device)
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=0.05)

    def save(self, path):
        torch.save({"net": self.model.state_dict(), "opt": self.optimizer.state_dict()}, path)

    def resume(self, path):
        saved = torch.load(path, map_location="cuda:0")
        self.model.load_state_dict(saved["net"])
        self.optimizer.load_state_dict(saved["opt"])

    def fit(self, steps):
        for _ in range(steps):
            x = torch.randn(6, 4).to(self.device)
            y = x.sum(1).tanh()
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(loss.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(3)
    runner = Runner(args)
    if args.save:
        runner.fit(2)
        runner.save("last.pt")
    else:
        runner.resume("last.pt")
        runner.fit(3)
