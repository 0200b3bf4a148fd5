import torch
from model_search import Network
from torch import nn

torch.manual_seed(0)
criterion = nn.CrossEntropyLoss().cuda()
model = Network(4, 10, 3, criterion).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.025)
architecture = torch.optim.Adam(model.arch_parameters(), lr=3e-4)
for step in range(3):
    images = torch.rand(2, 3, 16, 16).cuda()
    labels = torch.randint(0, 10, (2,)).cuda()
    loss = model._loss(images, labels)
    optimizer.zero_grad()
    architecture.zero_grad()
    loss.backward()
    optimizer.step()
    architecture.step()
    print(step, loss.item())
print(model.new()._loss(images, labels).item())
