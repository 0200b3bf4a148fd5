import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)

if torch.cuda.is_available():
    device = "cuda"
else:
    device = "cpu"

NUM_CLASSES = 3
THRESHOLD = 0.4


def gaussian_classes(n, gen):
    y = torch.randint(0, NUM_CLASSES, (n,), generator=gen)
    return torch.randn(n, 5, generator=gen) + y.unsqueeze(1), y


gen = torch.Generator().manual_seed(10)
x_l, y_l = gaussian_classes(12, gen)
x_u, _ = gaussian_classes(48, gen)
labelled = DataLoader(TensorDataset(x_l, y_l), batch_size=4, shuffle=True)
unlabelled = DataLoader(TensorDataset(x_u), batch_size=16, shuffle=True)

model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, NUM_CLASSES)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(2):
    for (xl, yl), (xu,) in zip(labelled, unlabelled):
        xl, yl = xl.to(device), yl.to(device)
        xu = xu.to(device)
        sup = F.cross_entropy(model(xl), yl)

        weak = xu + 0.05
        strong = xu * 1.3
        with torch.no_grad():
            prob, pseudo = F.softmax(model(weak), dim=1).max(dim=1)
        mask = (prob > THRESHOLD).float()
        unsup = (F.cross_entropy(model(strong), pseudo, reduction="none") * mask).mean()

        loss = sup + unsup
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("epoch %d sup %.4f unsup %.4f" % (epoch, sup.item(), unsup.item()))
