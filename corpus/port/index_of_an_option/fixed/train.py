import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(3)
model = nn.Linear(4, 2)
if torch.cuda.is_available():
    model.cuda(args.gpu)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.rand(6, 4)
    x = x.cuda(args.gpu) if torch.cuda.is_available() else x
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
