import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class CachedFeatures(Dataset):
    def __init__(self, path):
        cache = torch.load(f=path, weights_only=True)
        self.features = cache["features"]
        self.labels = cache["labels"]

    def __len__(self):
        return self.features.size(0)

    def __getitem__(self, index):
        return self.features[index], self.labels[index]


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(CachedFeatures("features.pt"), batch_size=10, shuffle=True)
    probe = nn.Linear(16, 2).to(device)
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        hits = 0
        for features, labels in loader:
            features = features.to(device)
            labels = labels.to(device)
            logits = probe(features)
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            hits += (logits.argmax(1) == labels).sum().item()
            print(epoch, "loss", round(loss.item(), 5))
        print(epoch, "accuracy", hits / len(loader.dataset))


if __name__ == "__main__":
    main()
