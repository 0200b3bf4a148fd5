import os

import torch
import torch.nn as nn
import torch.nn.functional as F

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(6, 4)
        self.decode = nn.Linear(4, 6)

    def forward(self, x):
        noise = torch.randn(x.size()).to(device) * 0.1
        return self.decode(F.relu(self.encode(x + noise)))


def batches(count):
    for _ in range(count):
        yield torch.rand(5, 6)


def train(model, optimizer):
    for step, x in enumerate(batches(4)):
        x = x.to(device, non_blocking=True)
        loss = F.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


def main():
    torch.manual_seed(1)
    model = Denoiser().to(device)
    train(model, torch.optim.Adam(model.parameters(), lr=0.01))


if __name__ == "__main__":
    main()
