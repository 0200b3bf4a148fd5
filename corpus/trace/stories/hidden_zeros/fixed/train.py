import argparse

import torch

from rnn import RNN


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-cuda", action="store_true")
    args = parser.parse_args()
    args.cuda = not args.no_cuda and torch.cuda.is_available()
    torch.manual_seed(11)
    device = torch.device("cuda" if args.cuda else "cpu")
    net = RNN(2, 7).to(device)
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    for it in range(4):
        xs = torch.randn(6, 5, 2).to(device)
        h = net.init_hidden(5).to(device)
        loss = 0
        for x in xs:
            y, h = net(x, h)
            loss = loss + (y.squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(it, loss.item())


main()
