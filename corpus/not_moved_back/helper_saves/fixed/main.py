import argparse
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn, optim


def save_checkpoint(net, path):
    """Keep the weights as CPU tensors."""
    net.cpu()
    torch.save(net.state_dict(), path)
    print("saved", os.path.basename(path))


def train(args, model, optimizer, epoch):
    model.train()
    for step in range(3):
        data = torch.randn(args.batch_size, 5)
        target = (data[:, 0] > 0).long()
        if args.cuda:
            data, target = data.cuda(), target.cuda()
        optimizer.zero_grad()
        loss = F.nll_loss(F.log_softmax(model(data), dim=1), target)
        loss.backward()
        optimizer.step()
        print("Train Epoch: {} [{}] Loss: {:.6f}".format(epoch, step, loss.item()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--no-cuda", action="store_true", default=False)
    args = parser.parse_args()
    args.cuda = not args.no_cuda and torch.cuda.is_available()
    torch.manual_seed(1)

    model = nn.Linear(5, 2)
    if args.cuda:
        model.cuda()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    folder = tempfile.mkdtemp()
    for epoch in range(1, args.epochs + 1):
        train(args, model, optimizer, epoch)
        save_checkpoint(model, os.path.join(folder, "model_%d.pt" % epoch))
        if args.cuda:
            model.cuda()


if __name__ == "__main__":
    main()
