import torch
import torch.nn.functional as F
from torch import nn

from prefetch import Prefetcher

torch.manual_seed(2)
model = nn.Linear(6, 3)
if torch.cuda.is_available():
    model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
batches = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(4)]
prefetcher = Prefetcher(batches)
images, labels = prefetcher.next()
while images is not None:
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
    images, labels = prefetcher.next()
