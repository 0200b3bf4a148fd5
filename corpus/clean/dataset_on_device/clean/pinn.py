import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Samples(Dataset):
    def __init__(self, n, device):
        self.t = torch.linspace(0, 1, n).unsqueeze(1).to(device)
        self.u = torch.exp(-3 * self.t)

    def __len__(self):
        return len(self.t)

    def __getitem__(self, i):
        return self.t[i], self.u[i]


def main():
    torch.manual_seed(5)
    loader = DataLoader(Samples(32, DEVICE), batch_size=8, shuffle=True)
    net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)).to(DEVICE)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for t, u in loader:
        t = t.requires_grad_(True)
        pred = net(t)
        slope = torch.autograd.grad(pred.sum(), t, create_graph=True)[0]
        loss = (slope + 3 * pred).pow(2).mean() + (pred - u).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


main()
