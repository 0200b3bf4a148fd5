import copy
import os
from tempfile import TemporaryDirectory

import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def train_model(model, data, optimizer, num_epochs):
    with TemporaryDirectory() as tempdir:
        best_path = os.path.join(tempdir, "best_model_params.pt")
        torch.save(model.state_dict(), best_path)
        best = float("inf")
        for epoch in range(num_epochs):
            total = 0.0
            for x, y in data:
                x, y = x.to(device), y.to(device)
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
            print(f"epoch {epoch} loss {total:.5f}")
            if total < best:
                best = total
                torch.save(model.state_dict(), best_path)
        model.load_state_dict(torch.load(best_path, weights_only=True))
    return model


x = torch.randn(3, 16, 4)
data = [(chunk, chunk.sum(1, keepdim=True)) for chunk in x]
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
before = copy.deepcopy(model.state_dict())
model = train_model(model, data, torch.optim.SGD(model.parameters(), lr=0.05), num_epochs=2)
print("changed:", any(not torch.equal(before[k], v) for k, v in model.state_dict().items()))
