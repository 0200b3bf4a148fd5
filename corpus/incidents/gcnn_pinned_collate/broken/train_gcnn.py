# Graph convolutional network on point clouds
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

use_cuda = torch.cuda.is_available()
FloatTensor = torch.FloatTensor
np.random.seed(2)
torch.manual_seed(2)


def T(a):
    a = FloatTensor(a)
    return a.cuda() if use_cuda else a


class PointDataset(Dataset):
    def __init__(self, n, points):
        self.y = np.random.randint(0, 2, n)
        self.x = [np.random.randn(points, 3) * (1 + y) for y in self.y]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


def adjacency(x, k=3):
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    a = np.zeros_like(d)
    np.put_along_axis(a, d.argsort(1)[:, :k], 1.0, axis=1)
    return a / a.sum(1, keepdims=True)


def collate(samples):
    xs, ys = zip(*samples)
    adj = T(np.stack([adjacency(x) for x in xs]))
    return T(np.stack(xs)), adj, T(np.array(ys)).long()


class GCNN(nn.Module):
    def __init__(self, c_in=3, nf=8, c_out=2):
        super().__init__()
        self.g1 = nn.Linear(c_in, nf)
        self.g2 = nn.Linear(nf, nf)
        self.fc = nn.Linear(nf, c_out)

    def forward(self, x, adj):
        x = F.relu(adj @ self.g1(x))
        x = F.relu(adj @ self.g2(x))
        return self.fc(x.max(1)[0])


def fit(model, dl, epochs, opt, crit):
    for epoch in range(epochs):
        model.train()
        for x, adj, y in dl:
            opt.zero_grad()
            loss = crit(model(x, adj), y)
            loss.backward()
            opt.step()
            print(epoch, loss.item())


if __name__ == '__main__':
    trn_ds = PointDataset(12, 7)
    trn_dl = DataLoader(trn_ds, batch_size=4, shuffle=True, collate_fn=collate, pin_memory=True)
    model = GCNN()
    model = model.cuda() if use_cuda else model
    fit(model, trn_dl, 2, torch.optim.Adam(model.parameters(), lr=1e-2), nn.CrossEntropyLoss())
