import torch
import torch.nn as nn

torch.manual_seed(0)

# ---- settings -------------------------------------------------------
LR = 0.1
STEPS = 6
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# ---- data: y = 3 x0 - 2 x1 + noise ----------------------------------
X = torch.randn(64, 2)
Y = (3 * X[:, 0] - 2 * X[:, 1] + 0.1 * torch.randn(64)).unsqueeze(1)

# ---- model ----------------------------------------------------------
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
loss_fn = nn.MSELoss()

model.to(device)
# Adagrad works well for this without any tuning
optimizer = torch.optim.Adagrad(model.parameters(), lr=LR)
X = X.to(device)
Y = Y.to(device)

for step in range(STEPS):
    optimizer.zero_grad()
    loss = loss_fn(model(X), Y)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
