import numpy as np
import torch
from mixup import Mixup
from torch import nn

torch.manual_seed(0)
np.random.seed(0)
mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=5)
model = nn.Sequential(nn.Flatten(), nn.Linear(192, 5)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    images = torch.rand(4, 3, 8, 8).cuda()
    labels = torch.randint(0, 5, (4,)).cuda()
    images, targets = mixup(images, labels)
    loss = -(targets * model(images).log_softmax(1)).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
