from __future__ import absolute_import, division, print_function

import logging
import random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

logger = logging.getLogger(__name__)


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class MaskedPooler(nn.Module):
    def __init__(self, vocab, dim, num_labels):
        super(MaskedPooler, self).__init__()
        self.embeddings = nn.Embedding(vocab, dim)
        self.dense = nn.Linear(dim, dim)
        self.classifier = nn.Linear(dim, num_labels)

    def forward(self, input_ids, attention_mask=None, labels=None):
        hidden = torch.tanh(self.dense(self.embeddings(input_ids)))
        mask = attention_mask.unsqueeze(-1).float()
        pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)
        logits = self.classifier(pooled)
        if labels is not None:
            return nn.functional.cross_entropy(logits, labels), logits
        return (logits,)


def load_and_cache_examples(n=36, length=10):
    rng = np.random.RandomState(0)
    input_ids = torch.tensor(rng.randint(1, 40, size=(n, length)), dtype=torch.long)
    lengths = torch.tensor(rng.randint(3, length + 1, size=n))
    input_mask = (torch.arange(length)[None, :] < lengths[:, None]).long()
    label_ids = input_ids[:, 0] % 2
    return TensorDataset(input_ids * input_mask, input_mask, label_ids)


def train(train_dataset, model, device, epochs=2):
    sampler = RandomSampler(train_dataset)
    dataloader = DataLoader(train_dataset, sampler=sampler, batch_size=12)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    tr_loss = 0.0
    for _ in range(epochs):
        for step, batch in enumerate(dataloader):
            model.train()
            inputs = {
                "input_ids": batch[0].to(device),
                "attention_mask": batch[1],
                "labels": batch[2].to(device),
            }
            outputs = model(**inputs)
            loss = outputs[0]
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            tr_loss += loss.item()
            optimizer.step()
            model.zero_grad()
            print("step %d loss %.6f" % (step, loss.item()))
    return tr_loss


def main():
    set_seed(42)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MaskedPooler(40, 12, 2)
    model.to(device)
    print("total %.4f" % train(load_and_cache_examples(), model, device))


if __name__ == "__main__":
    main()
