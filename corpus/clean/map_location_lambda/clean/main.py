from __future__ import print_function
import argparse

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument('--load', action='store_true')
parser.add_argument('--seed', type=int, default=1)
args = parser.parse_args()
args.cuda = torch.cuda.is_available()
torch.manual_seed(args.seed)

enc = nn.Linear(6, 3)
dec = nn.Linear(3, 6)
if args.load:
    enc.load_state_dict(torch.load('enc.pkl', map_location=lambda storage, loc: storage))
    dec.load_state_dict(torch.load('dec.pkl', map_location={'cuda:0': 'cpu'}))
if args.cuda:
    enc, dec = enc.cuda(), dec.cuda()

opt = torch.optim.RMSprop(list(enc.parameters()) + list(dec.parameters()), lr=1e-2)
for i in range(4):
    x = torch.randn(16, 6)
    if args.cuda:
        x = x.cuda()
    loss = ((dec(torch.tanh(enc(x))) - x) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item())

torch.save(enc.state_dict(), 'enc.pkl')
torch.save(dec.state_dict(), 'dec.pkl')
