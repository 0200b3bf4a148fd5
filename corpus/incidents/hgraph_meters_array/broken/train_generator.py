import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

from hvae import HierVAE, make_cuda

param_norm = lambda m: math.sqrt(sum([p.norm().item() ** 2 for p in m.parameters()]))
grad_norm = lambda m: math.sqrt(sum([p.grad.norm().item() ** 2 for p in m.parameters() if p.grad is not None]))

parser = argparse.ArgumentParser()
parser.add_argument('--seed', type=int, default=7)
parser.add_argument('--hidden_size', type=int, default=16)
parser.add_argument('--latent_size', type=int, default=4)
parser.add_argument('--lr', type=float, default=1e-3)
parser.add_argument('--clip_norm', type=float, default=5.0)
parser.add_argument('--step_beta', type=float, default=0.01)
parser.add_argument('--epoch', type=int, default=3)
parser.add_argument('--print_iter', type=int, default=50)
args = parser.parse_args()

torch.manual_seed(args.seed)

model = HierVAE(args)
if torch.cuda.is_available():
    model = model.cuda()
for param in model.parameters():
    if param.dim() == 1:
        nn.init.constant_(param, 0)
    else:
        nn.init.xavier_normal_(param)

optimizer = optim.Adam(model.parameters(), lr=args.lr)
dataset = [torch.randint(2, (6, 10)).float() for _ in range(3)]

total_step = beta = 0
meters = np.zeros(6)

for epoch in range(args.epoch):
    for batch in dataset:
        total_step += 1
        model.zero_grad()
        loss, kl_div, wacc, iacc, tacc, sacc = model(make_cuda(batch), beta=beta)

        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip_norm)
        optimizer.step()

        meters = meters + np.array([kl_div, loss.item(), wacc * 100, iacc * 100, tacc * 100, sacc * 100])

        if total_step % args.print_iter == 0:
            meters /= args.print_iter
            print("[%d] Beta: %.3f, KL: %.2f, loss: %.3f, Word: %.2f, %.2f, Topo: %.2f, Assm: %.2f, PNorm: %.2f, GNorm: %.2f" % (
                total_step, beta, meters[0], meters[1], meters[2], meters[3], meters[4], meters[5], param_norm(model), grad_norm(model)))
            meters *= 0
    beta = beta + args.step_beta
