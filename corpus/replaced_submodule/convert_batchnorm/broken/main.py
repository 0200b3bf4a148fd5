import torch
import torch.nn as nn

from norm import convert_model

torch.manual_seed(1)
use_cuda = torch.cuda.is_available()

net = nn.Sequential(
    nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(),
    nn.Sequential(nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU()),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4),
)
if use_cuda:
    net = net.cuda()
net = convert_model(net)

criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)

for step in range(4):
    inputs = torch.randn(8, 3, 8, 8)
    targets = torch.randint(0, 4, (8,))
    if use_cuda:
        inputs, targets = inputs.cuda(), targets.cuda()
    optimizer.zero_grad()
    loss = criterion(net(inputs), targets)
    loss.backward()
    optimizer.step()
    print('step %d | loss %.5f' % (step, loss.item()))
