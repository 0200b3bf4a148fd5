import torch
from torch import nn


class CachedFeatures:
    def __init__(self, path, device):
        cache = torch.load(f=path, map_location=device, weights_only=True)
        self.device = device
        self.features = cache["features"]
        self.labels = cache["labels"]

    def __len__(self):
        return self.features.size(0)

    def batches(self, size):
        for rows in torch.randperm(len(self)).to(self.device).split(size):
            yield self.features[rows], self.labels[rows]


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    cached = CachedFeatures("features.pt", device)
    probe = nn.Linear(16, 2).to(device)
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        hits = 0
        for features, labels in cached.batches(10):
            logits = probe(features)
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            hits += (logits.argmax(1) == labels).sum().item()
            print(epoch, "loss", round(loss.item(), 5))
        print(epoch, "accuracy", hits / len(cached))


if __name__ == "__main__":
    main()
