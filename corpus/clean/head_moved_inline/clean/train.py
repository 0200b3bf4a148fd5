import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.fc = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.fc(self.body(x))


def main():
    torch.manual_seed(42)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = Net(1000).to(device)
    model.fc = nn.Linear(model.fc.in_features, 2, device=device)
    model.body[0] = nn.Linear(10, 32).to(device)

    x = torch.randn(80, 10)
    loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=20, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss()
    for data, target in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(data.to(device)), target.to(device))
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    main()
