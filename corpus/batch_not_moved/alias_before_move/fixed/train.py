import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
ds = TensorDataset(torch.randn(24, 6), torch.randint(0, 3, (24,)))
train_loader = DataLoader(ds, batch_size=8)
model = nn.Linear(6, 3).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
crit = nn.CrossEntropyLoss()
for images, labels in train_loader:
    inputs = images
    images = images.to(device)
    labels = labels.to(device)
    out = model(images)
    loss = crit(out, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
