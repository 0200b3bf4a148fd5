import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rnn = nn.GRU(3, 4, batch_first=True).to(device)
head = nn.Linear(4, 1).to(device)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
for step in range(4):
    x, lengths = torch.randn(5, 6, 3), torch.tensor([6, 5, 3, 2, 1])
    x = x.to(device)
    mask = torch.arange(6, device=device)[None, :] < lengths.to(device)[:, None]
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    _, hidden = rnn(packed)
    loss = (head(hidden[0]).squeeze(1) - (x.mean(dim=2) * mask).sum(dim=1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
