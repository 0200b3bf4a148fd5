import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class FeatureDataset(Dataset):
    def __init__(self, extractor, n):
        self.extractor = extractor.eval()
        self.raw = torch.randn(n, 5)

    def __len__(self):
        return len(self.raw)

    @torch.no_grad()
    def __getitem__(self, index):
        raw = self.raw[index]
        return self.extractor(raw), (raw.sum() > 0).long()


torch.manual_seed(23)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
extractor = nn.Sequential(nn.Linear(5, 12), nn.ReLU())
classifier = nn.Linear(12, 2)
classifier.to(device)
optimizer = torch.optim.Adam(classifier.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for features, target in DataLoader(FeatureDataset(extractor, 40), batch_size=10):
    features, target = features.to(device), target.to(device)
    loss = criterion(classifier(features), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
