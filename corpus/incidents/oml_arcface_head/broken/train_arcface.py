import random

import numpy as np
import torch
from torch import nn
from torch.optim import Adam
from torch.utils.data import DataLoader, Dataset

from losses.arcface import ArcFaceLoss


def fix_seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class MockDataset(Dataset):
    input_tensors_key = "input_tensors"
    labels_key = "labels"

    def __init__(self, n_labels: int, n_samples: int):
        self.labels = np.arange(n_labels).repeat(n_samples)
        self.data = (np.random.randn(len(self.labels), 3, 8, 8) + self.labels[:, None, None, None]).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        return {self.input_tensors_key: self.data[idx], self.labels_key: self.labels[idx], "idx": idx}


class ViTExtractor(nn.Module):
    def __init__(self, feat_dim: int):
        super().__init__()
        self.feat_dim = feat_dim
        self.patches = nn.Conv2d(3, feat_dim, 4, 4)
        self.block = nn.TransformerEncoderLayer(feat_dim, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.block(self.patches(x).flatten(2).transpose(1, 2)).mean(1)


fix_seed(620)
device = "cuda" if torch.cuda.is_available() else "cpu"
epochs = 2

df_train = MockDataset(n_labels=3, n_samples=4)
extractor = ViTExtractor(8).to(device).train()
criterion = ArcFaceLoss(in_features=extractor.feat_dim, num_classes=3, smoothing_epsilon=0.1, s=10)
optimizer = Adam(list(extractor.parameters()) + list(criterion.parameters()), lr=1e-3)
loader = DataLoader(df_train, batch_size=6, shuffle=True)

for epoch in range(epochs):
    for batch in loader:
        embeddings = extractor(batch["input_tensors"].to(device))
        loss = criterion(embeddings, batch["labels"].to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"epoch {epoch} loss={loss.item():.4f}", criterion.last_logs)
