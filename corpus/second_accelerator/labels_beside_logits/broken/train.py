import torch
from torch import nn
import torch.nn.functional as F

several = torch.cuda.device_count() > 1
first = torch.device("cuda:0" if several else "cpu")
second = torch.device("cuda:1" if several else "cpu")

torch.manual_seed(4)
embed = nn.Embedding(20, 16).to(first)
head = nn.Linear(16, 20).to(second)
params = [*embed.parameters(), *head.parameters()]
opt = torch.optim.Adam(params, lr=0.01)

for step in range(5):
    tokens = torch.randint(0, 20, (6, 9)).to(first)
    hidden = embed(tokens[:, :-1]).to(second)
    logits = head(hidden)
    labels = tokens[:, 1:]
    loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
