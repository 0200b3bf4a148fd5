import torch
import torch.nn.functional as F

from nn.gconv_gru import GConvGRU


class Snapshot:
    def __init__(self, x, edge_index, edge_attr, y):
        self.x, self.edge_index, self.edge_attr, self.y = x, edge_index, edge_attr, y

    def to(self, device):
        return Snapshot(self.x.to(device), self.edge_index.to(device), self.edge_attr.to(device), self.y.to(device))


def chickenpox(snapshots=3, nodes=8):
    edge_index = torch.stack([torch.arange(nodes), torch.arange(nodes).roll(1)])
    for t in range(snapshots):
        x = torch.randn(nodes, 4)
        yield Snapshot(x, edge_index, torch.rand(nodes), x.mean(1))


class RecurrentGCN(torch.nn.Module):
    def __init__(self, node_features):
        super(RecurrentGCN, self).__init__()
        self.recurrent = GConvGRU(node_features, 12, 2)
        self.linear = torch.nn.Linear(12, 1)

    def forward(self, x, edge_index, edge_weight):
        h = self.recurrent(x, edge_index, edge_weight)
        h = F.relu(h)
        h = self.linear(h)
        return h


torch.manual_seed(18)
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
train_dataset = list(chickenpox())

model = RecurrentGCN(node_features=4).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model.train()

for epoch in range(3):
    cost = 0
    for time, snapshot in enumerate(train_dataset):
        snapshot = snapshot.to(device)
        y_hat = model(snapshot.x, snapshot.edge_index, snapshot.edge_attr)
        cost = cost + torch.mean((y_hat.squeeze(1) - snapshot.y) ** 2)
    cost = cost / (time + 1)
    cost.backward()
    optimizer.step()
    optimizer.zero_grad()
    print('MSE: {:.4f}'.format(cost.item()))
