import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
decoder = nn.Linear(3, 4).to(device)
codes = nn.Parameter((torch.randn(4, 3) * 0.1).to(device))
optimizer = torch.optim.Adam([{"params": decoder.parameters()}, {"params": [codes], "lr": 0.1}], lr=1e-2)
data = TensorDataset(torch.arange(4).repeat(4), torch.randn(16, 4))
for index, target in DataLoader(data, batch_size=4):
    index = index.to(device)
    target = target.to(device)
    loss = nn.functional.mse_loss(decoder(codes[index]), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
