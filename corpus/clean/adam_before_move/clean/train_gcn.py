from __future__ import division, print_function

import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

parser = argparse.ArgumentParser()
parser.add_argument('--no-cuda', action='store_true', default=False)
parser.add_argument('--seed', type=int, default=42)
parser.add_argument('--epochs', type=int, default=5)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

np.random.seed(args.seed)
torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass):
        super(GCN, self).__init__()
        self.w1 = nn.Linear(nfeat, nhid)
        self.w2 = nn.Linear(nhid, nclass)

    def forward(self, x, adj):
        x = F.relu(torch.mm(adj, self.w1(x)))
        return F.log_softmax(torch.mm(adj, self.w2(x)), dim=1)


n = 30
adj = (np.random.rand(n, n) < 0.15).astype(np.float32)
adj = np.maximum(adj, adj.T) + np.eye(n, dtype=np.float32)
adj = torch.from_numpy(adj / adj.sum(1, keepdims=True))
features = torch.randn(n, 6)
labels = features.argmax(1)
idx_train = torch.arange(20)
idx_val = torch.arange(20, n)

model = GCN(6, 8, 6)
optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

if args.cuda:
    model.cuda()
    features = features.cuda()
    adj = adj.cuda()
    labels = labels.cuda()
    idx_train = idx_train.cuda()
    idx_val = idx_val.cuda()


def train(epoch):
    t = time.time()
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()
    loss_val = F.nll_loss(output[idx_val], labels[idx_val])
    print('Epoch: {:04d}'.format(epoch + 1),
          'loss_train: {:.4f}'.format(loss_train.item()),
          'loss_val: {:.4f}'.format(loss_val.item()))
    return time.time() - t


for epoch in range(args.epochs):
    train(epoch)
