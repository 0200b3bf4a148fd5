import torch
from torch import nn
from torch.utils.data import DataLoader


def collate(items):
    return {"x": torch.stack([x for x, _ in items]), "y": torch.tensor([y for _, y in items]), "n": len(items)}


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = [(torch.randn(3), i % 2) for i in range(24)]
loader = DataLoader(data, batch_size=6, collate_fn=collate, pin_memory=torch.cuda.is_available())
model = nn.Linear(3, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:
    batch = {k: v.to(device) if torch.is_tensor(v) else v for k, v in batch.items()}
    loss = nn.functional.cross_entropy(model(batch["x"]), batch["y"]) / batch["n"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
