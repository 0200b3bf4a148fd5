import torch
import torch.nn as nn
import torch.nn.utils.rnn as rnn_utils

torch.manual_seed(1)
use_cuda = torch.cuda.is_available()
embed, gru, project = nn.Embedding(30, 6, padding_idx=0), nn.GRU(6, 5), nn.Linear(5, 4)
modules = nn.ModuleList([embed, gru, project])
if use_cuda:
    modules = modules.cuda()
optimizer = torch.optim.SGD(modules.parameters(), lr=0.2)
criterion = nn.CrossEntropyLoss(ignore_index=0)

for iteration in range(4):
    words = torch.randint(1, 30, (5, 3))
    tags = torch.randint(1, 4, (5, 3))
    words[3:, 1:] = 0
    tags[3:, 1:] = 0
    if use_cuda:
        words, tags = words.cuda(), tags.cuda()
    lengths = (words != 0).sum(dim=0)
    packed = rnn_utils.pack_padded_sequence(embed(words), lengths)
    output, _ = rnn_utils.pad_packed_sequence(gru(packed)[0])
    loss = criterion(project(output).view(-1, 4), tags.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
