import torch
from NCE.NCEAverage import NCEAverage
from NCE.NCECriterion import NCESoftmaxLoss
from torch import nn

torch.manual_seed(0)
luminance, colour = nn.Linear(6, 8).cuda(), nn.Linear(6, 8).cuda()
contrast = NCEAverage(8, 20, 5, use_softmax=True).cuda()
criterion = NCESoftmaxLoss().cuda()
optimizer = torch.optim.SGD([*luminance.parameters(), *colour.parameters()], lr=0.1)
for step in range(3):
    left, right = torch.rand(4, 6).cuda(), torch.rand(4, 6).cuda()
    index = torch.arange(4).cuda()
    outputs = contrast(nn.functional.normalize(luminance(left)), nn.functional.normalize(colour(right)), index)
    loss = criterion(outputs[0]) + criterion(outputs[1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
