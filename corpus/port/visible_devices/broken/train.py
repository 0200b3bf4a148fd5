import os

import torch
from torch import nn


def main():
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    torch.manual_seed(8)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        loss = model(torch.rand(6, 4).cuda()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
