import argparse

import torch
import torch.nn as nn
from torch.nn.utils import rnn


def pack(sequences, lengths):
    return rnn.pack_padded_sequence(sequences, lengths.cpu(), batch_first=True, enforce_sorted=False)


parser = argparse.ArgumentParser()
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()
torch.manual_seed(5)

encoder = nn.GRU(4, 6, batch_first=True)
decoder = nn.Linear(6, 2)
if args.cuda:
    encoder.cuda()
    decoder.cuda()
optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=0.01)
for step in range(4):
    questions = torch.randn(6, 9, 4)
    sizes = torch.LongTensor([9, 7, 7, 4, 2, 1])
    answers = torch.randint(0, 2, (6,))
    if args.cuda:
        questions, sizes, answers = questions.cuda(), sizes.cuda(), answers.cuda()
    _, state = encoder(pack(questions, sizes))
    loss = nn.functional.cross_entropy(decoder(state[0]), answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
