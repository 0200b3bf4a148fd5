import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def f1(pred, true):
    tp = np.sum((pred == 1) & (true == 1))
    return 2 * tp / max(np.sum(pred == 1) + np.sum(true == 1), 1)


def validate(model, loader, device):
    model.eval()
    preds, trues, hits, seen = [], [], 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x.to(device)).argmax(1).cpu()
            hits += (out == y).sum().item()
            seen += y.size(0)
            preds.append(out.numpy())
            trues.append(y.numpy())
    return f1(np.concatenate(preds), np.concatenate(trues)), hits / seen


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(60, 5)
    data = TensorDataset(x, (x[:, 0] > 0.3).long())
    model = nn.Linear(5, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for epoch in range(2):
        model.train()
        for xb, yb in DataLoader(data, batch_size=20, shuffle=True):
            loss = nn.functional.cross_entropy(model(xb.to(device)), yb.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("loss", loss.item())
        print("f1 %.4f acc %.4f" % validate(model, DataLoader(data, batch_size=20), device))


if __name__ == "__main__":
    main()
