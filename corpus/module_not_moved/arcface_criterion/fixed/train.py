import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class ArcFaceLoss(nn.Module):
    def __init__(self, dim, num_classes, s=16.0, m=0.2):
        super().__init__()
        self.s, self.m = s, m
        self.weight = nn.Parameter(torch.empty(num_classes, dim))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, embedding, label):
        cosine = F.linear(F.normalize(embedding), F.normalize(self.weight)).clamp(-1 + 1e-6, 1 - 1e-6)
        target = torch.cos(torch.acos(cosine) + self.m)
        one_hot = F.one_hot(label, cosine.size(1)).bool()
        return F.cross_entropy(self.s * torch.where(one_hot, target, cosine), label)


def train_epoch(model, criterion, optimizer, batches, device):
    model.train()
    for images, labels in batches:
        images, labels = images.to(device), labels.to(device)
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    torch.manual_seed(8)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    backbone = nn.Sequential(nn.Flatten(), nn.Linear(36, 16), nn.ReLU(), nn.Linear(16, 8)).to(device)
    criterion = ArcFaceLoss(8, 4).to(device)
    params = list(backbone.parameters()) + list(criterion.parameters())
    optimizer = torch.optim.SGD(params, lr=math.exp(-3), momentum=0.9)
    data = [(torch.randn(10, 6, 6), torch.randint(0, 4, (10,))) for _ in range(3)]
    for _ in range(2):
        train_epoch(backbone, criterion, optimizer, data, device)
