"""Train a network that scales its inputs by a constant which is no buffer."""
import torch
from torch import nn

torch.manual_seed(16)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.tensor([0.5, 2.0, 1.5, 1.0])
        self.layer = nn.Linear(4, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(torch.relu(self.layer(x * self.scale)))


model = Scaled().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-3)
x = torch.randn(80, 4)
y = x.prod(1, keepdim=True)
for rows in torch.arange(80).split(16):
    loss = nn.functional.huber_loss(model(x[rows].to(device)), y[rows].to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
print(sum(p.numel() for p in model.parameters() if p.requires_grad), "parameters")
torch.save(model.state_dict(), "model.pt")
