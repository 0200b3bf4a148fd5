from __future__ import print_function

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description='Autoencoder')
parser.add_argument('--batch-size', type=int, default=16, metavar='N')
parser.add_argument('--epochs', type=int, default=2, metavar='N')
parser.add_argument('--no-cuda', action='store_true', default=False,
                    help='disables CUDA training')
parser.add_argument('--out-dim', type=int, default=12, metavar='N',
                    help='dimension of what is reconstructed')
parser.add_argument('--seed', type=int, default=1, metavar='S')
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)


class AutoEncoder(nn.Module):
    def __init__(self):
        super(AutoEncoder, self).__init__()
        self.enc = nn.Linear(20, 6)
        self.dec = nn.Linear(6, 20)

    def forward(self, x):
        return self.dec(torch.tanh(self.enc(x)))


model = AutoEncoder()
if args.cuda:
    model.cuda()

if args.out_dim != 20:
    model.dec = nn.Linear(6, args.out_dim)

optimizer = optim.RMSprop(model.parameters(), lr=1e-2)

x = torch.randn(64, 20)
train_loader = DataLoader(TensorDataset(x), batch_size=args.batch_size, shuffle=True)


def train(epoch):
    model.train()
    for batch_idx, (data,) in enumerate(train_loader):
        if args.cuda:
            data = data.cuda()
        optimizer.zero_grad()
        recon = model(data)
        loss = F.mse_loss(recon, data[:, :args.out_dim])
        loss.backward()
        optimizer.step()
        print('Train Epoch: {} [{}/{}]\tLoss: {:.6f}'.format(
            epoch, batch_idx * len(data), len(train_loader.dataset), loss.item()))


for epoch in range(1, args.epochs + 1):
    train(epoch)
