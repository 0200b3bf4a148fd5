import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
device = "cuda" if torch.cuda.is_available() else "cpu"
embed = nn.Sequential(nn.Linear(8, 4), nn.Tanh()).to(device)
criterion = nn.CosineEmbeddingLoss()
optimizer = torch.optim.SGD(embed.parameters(), lr=0.3)
pairs = TensorDataset(torch.randn(16, 8), torch.randn(16, 8))
for left, right in DataLoader(pairs, batch_size=4):
    for side in (left, right):
        side = side.to(device)
    same = torch.ones(len(left), device=device)
    loss = criterion(embed(left), embed(right), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
