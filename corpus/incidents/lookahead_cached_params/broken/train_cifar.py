import argparse

import torch
import torch.nn as nn
import torch.optim as optim

from lookahead_pytorch import Lookahead

parser = argparse.ArgumentParser()
parser.add_argument('--la_steps', type=int, default=2)
parser.add_argument('--la_alpha', type=float, default=0.5)
parser.add_argument('--epochs', type=int, default=2)
parser.add_argument('--seed', type=int, default=8)
args = parser.parse_args()

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
torch.manual_seed(args.seed)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)
        self.fc = nn.Linear(6, 5)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).mean((2, 3)))


def get_setup():
    net = ConvNet()
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.001)
    optimizer = Lookahead(optimizer, la_steps=args.la_steps, la_alpha=args.la_alpha, pullback_momentum="reset")
    return net, optimizer


def train(net, optimizer, trainset):
    net.train()
    for inputs, targets in trainset:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        print('Loss: %.3f' % loss.item())


criterion = nn.CrossEntropyLoss()
trainset = [(torch.randn(6, 3, 8, 8), torch.randint(5, (6,))) for _ in range(3)]
net, optimizer = get_setup()
net.to(device)
for epoch in range(args.epochs):
    train(net, optimizer, trainset)
