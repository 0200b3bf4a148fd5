import argparse

import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--nz", type=int, default=8)
parser.add_argument("--niter", type=int, default=4)
parser.add_argument("--cuda", action="store_true", help="enables cuda")
opt = parser.parse_args()
opt.cuda = opt.cuda and torch.cuda.is_available()
torch.manual_seed(99)

netG = nn.Sequential(nn.Linear(opt.nz, 16), nn.ReLU(True), nn.Linear(16, 4))
netD = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()

noise = torch.FloatTensor(12, opt.nz).normal_(0, 1)
ones = torch.FloatTensor(12, 1).fill_(1)
if opt.cuda:
    netG.cuda()
    noise, ones = noise.cuda(), ones.cuda()

optimizerD = optim.Adam(netD.parameters(), lr=0.001, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.001, betas=(0.5, 0.999))

for i in range(opt.niter):
    real = torch.randn(12, 4)
    if opt.cuda:
        real = real.cuda()
    fake = netG(Variable(noise))
    optimizerD.zero_grad()
    errD = criterion(netD(real), ones) + criterion(netD(fake.detach()), 1 - ones)
    errD.backward()
    optimizerD.step()
    optimizerG.zero_grad()
    errG = criterion(netD(fake), ones)
    errG.backward()
    optimizerG.step()
    print("[%d] Loss_D: %.4f Loss_G: %.4f" % (i, errD.item(), errG.item()))
