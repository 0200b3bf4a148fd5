import os.path as osp

import torch
from torch import nn


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adjacency):
        return torch.sparse.mm(adjacency, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, features, hidden, classes, dropout=0.5):
        super().__init__()
        self.gc1 = GraphConvolution(features, hidden)
        self.gc2 = GraphConvolution(hidden, classes)
        self.dropout = dropout

    def forward(self, x, adjacency):
        x = torch.relu(self.gc1(x, adjacency))
        x = nn.functional.dropout(x, self.dropout, self.training)
        return self.gc2(x, adjacency)


def ring(n):
    rows = torch.arange(n).repeat(3)
    columns = torch.cat([torch.arange(n), (torch.arange(n) + 1) % n, (torch.arange(n) - 1) % n])
    return torch.sparse_coo_tensor(torch.stack([rows, columns]), torch.full((3 * n,), 1 / 3), (n, n))


class Data:
    def __init__(self, n=30):
        self.x = torch.randn(n, 6)
        self.adj = ring(n).coalesce()
        self.y = (torch.sparse.mm(self.adj, self.x)[:, 0] > 0).long()
        self.train_mask = torch.arange(n) % 3 != 0
        self.test_mask = ~self.train_mask

    def to(self, device):
        for name in ("x", "y", "train_mask", "test_mask"):
            setattr(self, name, getattr(self, name).to(device))
        return self


def main():
    torch.manual_seed(15)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = Data().to(device)
    model = GCN(6, 16, 2).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best = 0.0
    for epoch in range(6):
        model.train()
        optimizer.zero_grad()
        out = model(data.x, data.adj)
        loss = nn.functional.cross_entropy(out[data.train_mask], data.y[data.train_mask])
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            pred = model(data.x, data.adj).argmax(1)
        acc = (pred[data.test_mask] == data.y[data.test_mask]).float().mean().item()
        if acc > best:
            best = acc
            torch.save({"epoch": epoch, "state": model.state_dict()}, osp.join(".", "best_gcn.pth"))
        print("Epoch: {:03d}, Loss: {:.4f}, Test: {:.4f}, Best: {:.4f}".format(epoch, loss, acc, best))


if __name__ == "__main__":
    main()
