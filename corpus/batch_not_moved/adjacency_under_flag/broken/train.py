import argparse

import torch
import torch.nn.functional as F
from torch import optim

from graph import normalized, two_rooms
from net import TwoHops

parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true", default=False, help="train on the CPU")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--hidden", type=int, default=8)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

torch.manual_seed(42)
if args.cuda:
    torch.cuda.manual_seed(42)

edges, features, labels, idx_train, idx_test = two_rooms()
edges = normalized(edges)

model = TwoHops(features.shape[1], args.hidden, labels.max().item() + 1)
optimizer = optim.Adam(model.parameters(), lr=0.02)

if args.cuda:
    model.cuda()
    features = features.cuda()
    labels = labels.cuda()
    idx_train = idx_train.cuda()
    idx_test = idx_test.cuda()


def train(epoch):
    model.train()
    optimizer.zero_grad()
    output = model(features, edges)
    loss = F.cross_entropy(output[idx_train], labels[idx_train])
    loss.backward()
    optimizer.step()
    print("epoch", epoch, "loss", loss.item())


def test():
    model.eval()
    output = model(features, edges)
    right = output[idx_test].argmax(1) == labels[idx_test]
    print("right", right.double().mean().item())


for epoch in range(args.epochs):
    train(epoch)
test()
