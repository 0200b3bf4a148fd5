import torch
from convlstm import ConvLSTM
from torch import nn

torch.manual_seed(0)
model = ConvLSTM((8, 8), 3, [6, 4], (3, 3), 2, batch_first=True).cuda()
head = nn.Conv2d(4, 1, 1).cuda()
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
for step in range(3):
    frames = torch.rand(2, 4, 3, 8, 8).cuda()
    target = torch.rand(2, 1, 8, 8).cuda()
    outputs, states = model(frames)
    loss = nn.functional.mse_loss(head(outputs[-1][:, -1]), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
