import torch

from fourier import Fourier

torch.manual_seed(3)
use_cuda = torch.cuda.is_available()
model = Fourier(4)
if use_cuda:
    model.cuda()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for i in range(5):
    t = torch.rand(16, 1)
    if use_cuda:
        t = t.cuda()
    loss = (model(t) - (3 * t).sin()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item())
