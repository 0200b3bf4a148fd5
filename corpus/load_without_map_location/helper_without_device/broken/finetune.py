import argparse

import torch
import torch.nn.functional as F

from nets import Backbone, load_pretrained

parser = argparse.ArgumentParser()
parser.add_argument('--pretrained', default='')
parser.add_argument('--iters', type=int, default=5)


def main():
    args = parser.parse_args()
    torch.manual_seed(2)
    dev = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model = Backbone(out=2)
    if args.pretrained:
        print('loaded %d tensors' % load_pretrained(model, args.pretrained))
    model = model.to(dev)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for i in range(args.iters):
        x = torch.rand(10, 1, 8, 8)
        y = (x[:, 0, :4].mean((1, 2)) > x[:, 0, 4:].mean((1, 2))).long()
        x, y = x.to(dev), y.to(dev)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print('iter %d loss %.5f' % (i, loss.item()))


if __name__ == '__main__':
    main()
