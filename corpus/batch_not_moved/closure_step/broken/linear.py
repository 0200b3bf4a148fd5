# A straight line, fitted step by step.
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

device = 'cuda' if torch.cuda.is_available() else 'cpu'

np.random.seed(42)
x = np.random.rand(60, 1)
y = 1 + 2 * x + .1 * np.random.randn(60, 1)

train_data = TensorDataset(torch.from_numpy(x).float(), torch.from_numpy(y).float())
val_data = TensorDataset(torch.from_numpy(x[:20]).float(), torch.from_numpy(y[:20]).float())


def make_train_step(model, loss_fn, optimizer):
    # Builds function that performs a step in the train loop
    def train_step(x, y):
        model.train()
        yhat = model(x)
        loss = loss_fn(y, yhat)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return train_step


torch.manual_seed(42)
model = nn.Sequential(nn.Linear(1, 1)).to(device)
loss_fn = nn.MSELoss(reduction='mean')
optimizer = optim.SGD(model.parameters(), lr=1e-1)
train_step = make_train_step(model, loss_fn, optimizer)

train_loader = DataLoader(dataset=train_data, batch_size=20, shuffle=True)
val_loader = DataLoader(dataset=val_data, batch_size=20)

losses = []
val_losses = []
for epoch in range(2):
    for x_batch, y_batch in train_loader:
        loss = train_step(x_batch, y_batch)
        losses.append(loss)

    with torch.no_grad():
        for x_val, y_val in val_loader:
            x_val = x_val.to(device)
            y_val = y_val.to(device)
            model.eval()
            val_losses.append(loss_fn(y_val, model(x_val)).item())

print(losses)
print(val_losses)
