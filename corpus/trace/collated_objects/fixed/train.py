import torch
from torch import nn
from torch.utils.data import DataLoader

from graphs import Graphs, Ring

MOVED = ["x", "adj", "y"]


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 12), nn.Linear(12, 1)])

    def forward(self, batch):
        first, second = self.layers
        h = first(batch.adj @ batch.x).relu()
        return second(h).sum(dim=(1, 2))


def place(batch, device, names):
    for name in names:
        setattr(batch, name, getattr(batch, name).to(device, non_blocking=True))
    return batch


def main():
    torch.manual_seed(9)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = GCN().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loader = DataLoader(Ring(24), batch_size=6, collate_fn=Graphs)
    for epoch in range(2):
        for batch in loader:
            batch = place(batch, device, MOVED)
            loss = nn.functional.mse_loss(model(batch), batch.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item(), batch.ids[0])


if __name__ == "__main__":
    main()
