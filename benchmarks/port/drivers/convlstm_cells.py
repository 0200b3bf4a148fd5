import torch
from convolution_lstm import ConvLSTM
from torch import nn

torch.manual_seed(0)
model = ConvLSTM(3, [8, 4], 3, step=4, effective_step=[1, 3]).cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    image = torch.rand(2, 3, 8, 8).cuda()
    target = torch.rand(2, 4, 8, 8).cuda()
    outputs, states = model(image)
    loss = sum(nn.functional.mse_loss(output, target) for output in outputs)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
