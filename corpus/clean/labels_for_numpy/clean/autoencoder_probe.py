import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def nearest_centroid_accuracy(codes, labels):
    classes = np.unique(labels)
    centroids = np.stack([codes[labels == c].mean(axis=0) for c in classes])
    d = ((codes[:, None] - centroids[None]) ** 2).sum(-1)
    return float((classes[d.argmin(axis=1)] == labels).mean())


def main():
    torch.manual_seed(6)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    labels = torch.arange(60) % 3
    x = torch.randn(60, 12) + labels[:, None]
    loader = DataLoader(TensorDataset(x, labels), batch_size=20, shuffle=True)

    enc = nn.Linear(12, 3).to(device)
    dec = nn.Linear(3, 12).to(device)
    opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=1e-2)

    for epoch in range(3):
        codes, ys = [], []
        for inputs, target in loader:
            inputs = inputs.to(device)
            z = enc(inputs)
            loss = nn.functional.mse_loss(dec(z), inputs)
            opt.zero_grad()
            loss.backward()
            opt.step()
            codes.append(z.detach().cpu().numpy())
            ys.append(target.numpy())
            print("step", loss.item())
        acc = nearest_centroid_accuracy(np.concatenate(codes), np.concatenate(ys))
        print("epoch", epoch, "centroid accuracy", round(acc, 3))


if __name__ == "__main__":
    main()
