import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

inputs = torch.randn(96, 6)
targets = (inputs @ torch.randn(6, 1)).tanh() + 0.1 * torch.randn(96, 1)
train_x, train_y = inputs[:64], targets[:64]
test_x, test_y = inputs[64:], targets[64:]

model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
warmup = 6
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup))
criterion = nn.MSELoss()

for epoch in range(4):
    model.train()
    for start in range(0, 64, 16):
        x = train_x[start : start + 16].to(device)
        y = train_y[start : start + 16]
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")

model.eval()
with torch.no_grad():
    test_loss = criterion(model(test_x.to(device)), test_y.to(device)).item()
print(f"test loss {test_loss:.5f}")
