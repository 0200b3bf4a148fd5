import torch
from torch import nn


def features(embedder, batch, device):
    with torch.no_grad():
        return embedder(batch.cpu()).to(device)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
embedder = nn.Embedding(50, 8)
embedder.cpu()
embedder.requires_grad_(False)
head = nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(4):
    tokens = torch.randint(0, 50, (6,)).to(device)
    loss = nn.functional.cross_entropy(head(features(embedder, tokens, device)), tokens % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
