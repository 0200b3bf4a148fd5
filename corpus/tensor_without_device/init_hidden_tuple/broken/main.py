import argparse

import torch
import torch.nn as nn

from model import RNNModel

parser = argparse.ArgumentParser(description="Word-level language model")
parser.add_argument("--emsize", type=int, default=12)
parser.add_argument("--nhid", type=int, default=12)
parser.add_argument("--bptt", type=int, default=5)
parser.add_argument("--batch_size", type=int, default=4)
parser.add_argument("--seed", type=int, default=1111)
parser.add_argument("--cuda", action="store_true", default=True)
args = parser.parse_args()

torch.manual_seed(args.seed)
use_cuda = args.cuda and torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")

ntokens = 20
corpus = torch.randint(0, ntokens, (25 * args.batch_size,))
train_data = corpus.view(args.batch_size, -1).t().contiguous().to(device)

model = RNNModel(ntokens, args.emsize, args.nhid).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i):
    seq_len = min(args.bptt, len(source) - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].reshape(-1)


def train():
    model.train()
    hidden = model.init_hidden(args.batch_size)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, args.bptt)):
        data, targets = get_batch(train_data, i)
        optimizer.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        print("| batch {:3d} | loss {:5.4f}".format(batch, loss.item()))


train()
