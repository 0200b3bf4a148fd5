from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

PAIRS = [([1, 2, 3], 0), ([4, 5], 1), ([1, 3, 3, 2], 0), ([5, 4, 4], 1), ([2], 0), ([5, 5], 1)] * 3


def collate_batch(batch, device):
    labels, tokens, offsets = [], [], [0]
    for ids, label in batch:
        labels.append(label)
        tokens.extend(ids)
        offsets.append(len(ids))
    offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
    return torch.tensor(labels).to(device), torch.tensor(tokens).to(device), offsets.to(device)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(PAIRS, batch_size=6, shuffle=True, collate_fn=partial(collate_batch, device=device))
bag = nn.EmbeddingBag(6, 10).to(device)
fc = nn.Linear(10, 2).to(device)
optimizer = torch.optim.SGD([*bag.parameters(), *fc.parameters()], lr=0.5)

for epoch in range(2):
    for label, text, offsets in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(fc(bag(text, offsets)), label)
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())
