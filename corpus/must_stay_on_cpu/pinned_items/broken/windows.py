import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Windows(Dataset):
    def __init__(self, series, size):
        self.series, self.size = series, size

    def __len__(self):
        return len(self.series) - self.size

    def __getitem__(self, index):
        window = self.series[index : index + self.size].to(DEVICE)
        following = self.series[index + self.size].to(DEVICE)
        return window, following


def main():
    torch.manual_seed(4)
    series = torch.sin(torch.arange(60, dtype=torch.float32) / 5)
    loader = DataLoader(
        Windows(series, 8),
        batch_size=13,
        pin_memory=torch.cuda.is_available(),
    )
    model = nn.Linear(8, 1).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for windows, following in loader:
        loss = (model(windows).squeeze(1) - following).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())


if __name__ == "__main__":
    main()
