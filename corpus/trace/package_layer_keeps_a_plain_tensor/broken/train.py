import torch
from torch import nn
from vqtoys import Quantizer


class VQ(nn.Module):
    def __init__(self, quantizer):
        super().__init__()
        self.enc = nn.Linear(5, 3)
        self.vq = quantizer
        self.dec = nn.Linear(3, 5)

    def forward(self, x):
        return self.dec(self.vq(self.enc(x)))


torch.manual_seed(61)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = VQ(Quantizer(codes=7, dim=3))
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(10, 5).to(device)
    loss = (model(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
