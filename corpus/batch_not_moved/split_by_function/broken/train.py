import numpy as np
import torch
import torch.nn as nn


def train_test_split(X, y, frac=0.75):
    n = int(len(X) * frac)
    return X[:n], X[n:], y[:n], y[n:]


rng = np.random.RandomState(0)
X = torch.from_numpy(rng.randn(40, 4).astype("float32"))
y = torch.from_numpy(rng.randint(0, 2, 40).astype("float32")).unsqueeze(1)
X_train, X_test, y_train, y_test = train_test_split(X, y)

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(42)
model_0 = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model_0.parameters(), lr=0.1)
X_train, y_train = X_train.to(device), y_train.to(device)
for epoch in range(6):
    model_0.train()
    y_logits = model_0(X_train)
    loss = loss_fn(y_logits, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model_0.eval()
    with torch.inference_mode():
        test_logits = model_0(X_test)
        test_loss = loss_fn(test_logits, y_test)
    print(f"Epoch: {epoch} | Loss: {loss:.5f} | Test loss: {test_loss:.5f}")
