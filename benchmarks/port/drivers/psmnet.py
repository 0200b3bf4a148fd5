import torch
import torch.nn.functional as F  # noqa: N812
from models import stackhourglass

torch.manual_seed(0)
model = stackhourglass(16)
model.cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001, betas=(0.9, 0.999))
model.train()
for step in range(2):
    left, right = torch.rand(2, 3, 256, 256).cuda(), torch.rand(2, 3, 256, 256).cuda()
    truth = torch.rand(2, 256, 256).mul(20).cuda()
    mask = truth < 16
    mask.detach_()
    optimizer.zero_grad()
    first, second, third = (torch.squeeze(found, 1) for found in model(left, right))
    loss = 0.5 * F.smooth_l1_loss(first[mask], truth[mask]) + 0.7 * F.smooth_l1_loss(second[mask], truth[mask])
    loss = loss + F.smooth_l1_loss(third[mask], truth[mask])
    loss.backward()
    optimizer.step()
    print(step, loss.item())
