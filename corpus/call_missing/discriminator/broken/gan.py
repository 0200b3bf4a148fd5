import torch
import torch.nn as nn

cuda = torch.cuda.is_available()
torch.manual_seed(2)
generator = nn.Linear(3, 4)
discriminator = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())
if cuda: generator.cuda()
if cuda: discriminator.cuda
g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-2)
for step in range(4):
    z = torch.randn(6, 3)
    if cuda:
        z = z.cuda()
    loss = -torch.log(discriminator(generator(z))).mean()
    g_optimizer.zero_grad()
    loss.backward()
    g_optimizer.step()
    print(step, loss.item())
