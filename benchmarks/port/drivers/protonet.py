import torch
from convnet import Convnet
from torch import nn
from utils import count_acc, euclidean_metric

torch.manual_seed(0)
model = Convnet(hid_dim=8, z_dim=8).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
model.train()
for step in range(3):
    images = torch.rand(12, 3, 16, 16).cuda()
    shots, queries = images[:4], images[4:]
    prototypes = model(shots).reshape(1, 4, -1).mean(dim=0)
    labels = torch.arange(4).repeat(2).cuda()
    logits = euclidean_metric(model(queries), prototypes)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), count_acc(logits, labels))
