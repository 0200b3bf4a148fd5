import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(60, 16)
        self.out_head = nn.Linear(16, 60, bias=False)

    def forward(self, ids):
        return self.out_head(self.emb(ids))


torch.manual_seed(123)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Encoder()
model.to(device)
model.eval()

for param in model.parameters():
    param.requires_grad = False

model.out_head = torch.nn.Linear(in_features=16, out_features=2)
model.to(device)

optimizer = torch.optim.AdamW(model.out_head.parameters(), lr=1e-2)
for step in range(5):
    ids = torch.randint(0, 60, (12, 7))
    labels = ids[:, 0] % 2
    loss = nn.functional.cross_entropy(model(ids.to(device)), labels.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.5f}")
