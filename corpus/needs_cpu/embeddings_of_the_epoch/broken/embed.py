import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(3)


def run_epoch(encoder, head, loader, optimizer, criterion):
    gathered = []
    for images, labels in loader:
        images = images.to(device)
        codes = encoder(images)
        loss = criterion(head(codes), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        gathered.append(codes.detach())
        print("loss", loss.item())
    return np.concatenate(gathered)


encoder = nn.Sequential(nn.Flatten(), nn.Linear(16, 5)).to(device)
head = nn.Linear(5, 2).to(device)
loader = DataLoader(TensorDataset(torch.randn(30, 1, 4, 4), torch.randint(0, 2, (30,))), batch_size=10)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.05)
for epoch in range(2):
    codes = run_epoch(encoder, head, loader, optimizer, nn.CrossEntropyLoss())
    print("codes", codes.shape, round(float(codes.std()), 4))
