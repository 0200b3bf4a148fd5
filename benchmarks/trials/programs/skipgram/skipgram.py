import random
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = "one two three four five six seven eight nine ten one two three one two one four five six four five four".split()
SEED = 77
USE_GPU = torch.cuda.is_available()


class SkipGram(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.center = nn.Embedding(size, dim, sparse=True)
        self.context = nn.Embedding(size, dim, sparse=True)
        nn.init.uniform_(self.center.weight, -0.5, 0.5)
        nn.init.zeros_(self.context.weight)

    def forward(self, center, context, negative):
        c = self.center(center)
        positive = F.logsigmoid((c * self.context(context)).sum(1))
        negative = F.logsigmoid(-torch.bmm(self.context(negative), c.unsqueeze(2)).squeeze(2)).sum(1)
        return -(positive + negative).mean()


def pairs(ids, window=2):
    for i, center in enumerate(ids):
        for j in range(max(0, i - window), min(len(ids), i + window + 1)):
            if i != j:
                yield center, ids[j]


random.seed(SEED)
torch.manual_seed(SEED)
counts = Counter(TEXT)
vocab = {word: i for i, word in enumerate(counts)}
ids = [vocab[word] for word in TEXT]
noise = torch.tensor([float(counts[word]) for word in vocab]) ** 0.75
model = SkipGram(len(vocab), 6)
if USE_GPU:
    model = model.cuda()
optimizer = torch.optim.SparseAdam(model.parameters(), lr=0.05)
examples = list(pairs(ids))
for epoch in range(2):
    random.shuffle(examples)
    running = 0.0
    for start in range(0, len(examples) - 15, 16):
        center, context = torch.tensor(examples[start : start + 16]).t()
        negative = torch.multinomial(noise, 16 * 4, replacement=True).view(16, 4)
        if USE_GPU:
            center, context = center.cuda(), context.cuda()
        loss = model(center, context, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch}: {running:.5f}")

with open("vectors.txt", "w") as file:
    print(len(vocab), 6, file=file)
    for word, i in vocab.items():
        print(word, *(f"{v:.5f}" for v in model.center.weight[i].tolist()), file=file)
