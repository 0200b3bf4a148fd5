import argparse

import torch
import torch.nn as nn
import torch.optim as optim

from layers import MultiBoxLoss


def str2bool(v):
    return v.lower() in ("yes", "true", "t", "1")


parser = argparse.ArgumentParser(description='Single Shot MultiBox Detector Training With Pytorch')
parser.add_argument('--batch_size', default=4, type=int, help='Batch size for training')
parser.add_argument('--cuda', default=True, type=str2bool, help='Use CUDA to train model')
parser.add_argument('--lr', '--learning-rate', default=1e-3, type=float)
parser.add_argument('--momentum', default=0.9, type=float)
args = parser.parse_args()

if torch.cuda.is_available() and not args.cuda:
    print("WARNING: It looks like you have a CUDA device, but aren't using CUDA.")
args.cuda = args.cuda and torch.cuda.is_available()


class SSD(nn.Module):
    def __init__(self, num_classes):
        super(SSD, self).__init__()
        self.num_classes = num_classes
        self.base = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.loc = nn.Conv2d(8, 4, 1)
        self.conf = nn.Conv2d(8, num_classes, 1)

    def forward(self, x):
        x = torch.relu(self.base(x))
        loc = self.loc(x).permute(0, 2, 3, 1).reshape(x.size(0), -1, 4)
        conf = self.conf(x).permute(0, 2, 3, 1).reshape(x.size(0), -1, self.num_classes)
        return loc, conf


def train():
    torch.manual_seed(536)
    net = SSD(num_classes=4)
    if args.cuda:
        net = net.cuda()
    optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=args.momentum, weight_decay=5e-4)
    criterion = MultiBoxLoss(4, 0.5, 3, args.cuda)

    net.train()
    for iteration in range(4):
        images = torch.rand(args.batch_size, 3, 8, 8)
        targets = [torch.cat([torch.rand(3, 4), torch.randint(3, (3, 1)).float()], 1) for _ in images]
        if args.cuda:
            images = images.cuda()
            targets = [ann.cuda() for ann in targets]
        out = net(images)
        optimizer.zero_grad()
        loss_l, loss_c = criterion(out, targets)
        loss = loss_l + loss_c
        loss.backward()
        optimizer.step()
        print('iter ' + repr(iteration) + ' || Loss: %.4f ||' % (loss.item()))


if __name__ == '__main__':
    train()
