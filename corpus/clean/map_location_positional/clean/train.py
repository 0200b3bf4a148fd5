import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
parser.add_argument("--save")
args = parser.parse_args()

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(3, 1).to(device)
opt = torch.optim.Adam(net.parameters(), lr=0.1)
if args.resume:
    net_state, opt_state = torch.load(args.resume, device)
    net.load_state_dict(net_state)
    opt.load_state_dict(opt_state)
for step in range(4):
    x = torch.randn(8, 3)
    loss = (net(x.to(device)) - x.sum(1, keepdim=True).to(device)).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
if args.save:
    torch.save((net.state_dict(), opt.state_dict()), args.save)
