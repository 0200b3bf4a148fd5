from __future__ import print_function
import argparse

import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser(description='Word-level RNN language model')
parser.add_argument('--emsize', type=int, default=12)
parser.add_argument('--nhid', type=int, default=12)
parser.add_argument('--lr', type=float, default=0.5)
parser.add_argument('--no-cuda', action='store_true')
parser.add_argument('--seed', type=int, default=1111)
parser.add_argument('--pretrained', type=str, default='')
parser.add_argument('--save', type=str, default='')
args = parser.parse_args()
args.cuda = torch.cuda.is_available() and not args.no_cuda
torch.manual_seed(args.seed)


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid):
        super(RNNModel, self).__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.RNN(ninp, nhid)
        self.decoder = nn.Linear(nhid, ntoken)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output.view(-1, output.size(2))), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return weight.new_zeros(1, bsz, self.rnn.hidden_size)


corpus = ('the cat sat on the mat and the dog sat on the cat ' * 5).split()
vocab = sorted(set(corpus))
ids = torch.tensor([vocab.index(w) for w in corpus])
bptt, bsz = 6, 4
ids = ids[:ids.size(0) // bsz * bsz].view(bsz, -1).t().contiguous()

model = RNNModel(len(vocab), args.emsize, args.nhid)
if args.pretrained:
    with open(args.pretrained, 'rb') as f:
        model.load_state_dict(torch.load(f))
if args.cuda:
    model.cuda()
    ids = ids.cuda()

criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=args.lr)
hidden = model.init_hidden(bsz)
for epoch in range(2):
    for i in range(0, ids.size(0) - 1, bptt):
        seq_len = min(bptt, ids.size(0) - 1 - i)
        data, targets = ids[i:i + seq_len], ids[i + 1:i + 1 + seq_len].view(-1)
        hidden = hidden.detach()
        optimizer.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        print('| epoch {:3d} | loss {:5.4f}'.format(epoch, loss.item()))

if args.save:
    with open(args.save, 'wb') as f:
        torch.save(model.state_dict(), f)
