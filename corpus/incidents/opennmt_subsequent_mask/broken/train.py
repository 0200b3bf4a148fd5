import argparse

import torch
import torch.nn as nn

from onmt.Transformer import PAD, TransformerDecoder

parser = argparse.ArgumentParser(description='train.py')
parser.add_argument('-layers', type=int, default=2)
parser.add_argument('-rnn_size', type=int, default=16)
parser.add_argument('-epochs', type=int, default=13)
parser.add_argument('-batch_size', type=int, default=4)
parser.add_argument('-gpuid', default=[], nargs='+', type=int)
opt = parser.parse_args()

torch.manual_seed(240)
use_gpu = len(opt.gpuid) > 0 and torch.cuda.is_available()


def make_data(n):
    data = []
    for _ in range(n):
        src = torch.randint(2, 20, (opt.batch_size, 7))
        src[0, 5:] = PAD
        data.append((src, src.flip(1)))
    return data


def main():
    train_data = make_data(2)
    model = TransformerDecoder(opt.layers, opt.rnn_size, 20)
    if use_gpu:
        model.cuda()
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)

    for epoch in range(1, opt.epochs + 1):
        for src, tgt in train_data:
            if use_gpu:
                src, tgt = src.cuda(), tgt.cuda()
            model.zero_grad()
            scores = model(src, tgt[:, :-1])
            loss = criterion(scores.reshape(-1, scores.size(2)), tgt[:, 1:].reshape(-1))
            loss.backward()
            optim.step()
            print('Epoch %2d; ppl: %6.2f' % (epoch, loss.exp().item()))


if __name__ == "__main__":
    main()
