import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super(Encoder, self).__init__()
        self.fc = nn.Linear(7, 5)

    def forward(self, x):
        return F.normalize(self.fc(x), dim=1)


def main(args):
    torch.manual_seed(1)
    use_cuda = torch.cuda.is_available()
    device = torch.device('cuda:0' if use_cuda else 'cpu')
    encoder = Encoder().to(device)
    if args.mode == 'save':
        torch.save({'prototypes': F.normalize(torch.randn(4, 5), dim=1).to(device)}, 'prototypes.pth')
        return
    checkpoint = torch.load('prototypes.pth', map_location=device)
    prototypes = checkpoint['prototypes']
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.5)
    for i in range(3):
        images = torch.randn(9, 7).to(device)
        labels = torch.randint(0, 4, (9,)).to(device)
        logits = torch.mm(encoder(images), prototypes.t())
        loss = F.cross_entropy(logits / 0.1, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print('%d %.5f' % (i, loss.item()))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('mode', nargs='?', default='train')
    main(parser.parse_args())
