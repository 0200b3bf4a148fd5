import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from common.nested import send_to
from common.data import Graphs


class GraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, nodes, adj):
        return self.out(torch.relu(adj @ self.lin(nodes)).mean(1)).squeeze(-1)


def train(model, loader, optimizer, device):
    model.train()
    for batch in loader:
        inputs, target = send_to(batch, device)
        loss = nn.functional.mse_loss(model(inputs["nodes"], inputs["adj"]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item(), inputs["id"][0])


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = GraphNet().to(device)
    train(model, DataLoader(Graphs(24), batch_size=6), torch.optim.Adam(model.parameters(), 1e-2), device)
