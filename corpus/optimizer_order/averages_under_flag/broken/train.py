import argparse

import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser()
parser.add_argument('--no-cuda', action='store_true')
parser.add_argument('--steps', type=int, default=4)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(8)
model = nn.GRU(3, 6, batch_first=True)
averages = {n: p.detach().clone() for n, p in model.named_parameters()}
if args.cuda:
    model.cuda()
optimizer = optim.RMSprop(model.parameters(), lr=0.01)

for step in range(args.steps):
    data = torch.randn(4, 5, 3)
    if args.cuda:
        data = data.cuda()
    output, _ = model(data)
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for n, p in model.named_parameters():
            averages[n].mul_(0.9).add_(p, alpha=0.1)
    print('step', step, 'loss', loss.item())
