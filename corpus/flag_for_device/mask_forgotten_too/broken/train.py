import torch
from torch import nn

torch.manual_seed(5)
gpu = torch.cuda.is_available()
encoder = nn.GRU(4, 8, batch_first=True)
head = nn.Linear(8, 1)
if gpu:
    encoder.cuda()
    head.cuda()
params = list(encoder.parameters()) + list(head.parameters())
optimizer = torch.optim.Adam(params, lr=1e-2)
for step in range(4):
    x, y = torch.randn(3, 6, 4), torch.randn(3, 6)
    mask = torch.ones(3, 6)
    mask[:, 4:] = 0
    if gpu:
        x = x.cuda(True)
        y = y.cuda(True)
    out = head(encoder(x)[0]).squeeze(-1)
    loss = ((out - y).abs() * mask).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
