import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description='Metric learning')
parser.add_argument('--gpu', default=0, type=int)
parser.add_argument('--margin', default=0.5, type=float)
parser.add_argument('--iters', default=5, type=int)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(10, 20), nn.ReLU())
        self.fc = nn.Linear(20, 100)

    def forward(self, x):
        return self.fc(self.block(x))


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.scale = nn.Parameter(torch.tensor(10.0))

    def strip(self, dim):
        width = self.backbone.fc.in_features
        self.backbone.fc = nn.Identity()
        self.backbone.projector = nn.Linear(width, dim, bias=False)
        return self

    def forward(self, x):
        h = self.backbone(x)
        return F.normalize(self.backbone.projector(h), dim=1)


def main():
    args = parser.parse_args()
    torch.manual_seed(args.gpu)
    model = Embedding()
    if torch.cuda.is_available():
        torch.cuda.set_device(args.gpu)
        model = model.cuda(args.gpu)
    model.strip(dim=6)

    criterion = nn.TripletMarginLoss(margin=args.margin)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for i in range(args.iters):
        anchor = torch.randn(8, 10)
        positive = anchor + 0.1 * torch.randn(8, 10)
        negative = torch.randn(8, 10)
        if torch.cuda.is_available():
            anchor = anchor.cuda(args.gpu, non_blocking=True)
            positive = positive.cuda(args.gpu, non_blocking=True)
            negative = negative.cuda(args.gpu, non_blocking=True)
        loss = criterion(model(anchor), model(positive), model(negative))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print('Iter: [{0}/{1}]\tLoss {2:.5f}'.format(i, args.iters, loss.item()))


if __name__ == '__main__':
    main()
