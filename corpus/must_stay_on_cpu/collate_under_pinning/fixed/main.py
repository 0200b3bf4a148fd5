import torch
from torch import nn
from torch.utils.data import DataLoader

from data import pad_batch

use_gpu = torch.cuda.is_available()
device = "cuda" if use_gpu else "cpu"


def collate(samples):
    tokens, labels = pad_batch(samples, device)
    return tokens, labels


torch.manual_seed(1)
samples = [([1 + (i * j) % 9 for j in range(1, 3 + i % 4)], i % 3) for i in range(24)]
loader = DataLoader(samples, batch_size=6, collate_fn=collate, pin_memory=True)
model = nn.Sequential(nn.EmbeddingBag(10, 8), nn.Linear(8, 3)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for tokens, labels in loader:
    tokens, labels = tokens.to(device), labels.to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.6f}")
