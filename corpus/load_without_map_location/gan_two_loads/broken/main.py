from __future__ import print_function
import argparse
import random

import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser()
parser.add_argument('--batchSize', type=int, default=8, help='input batch size')
parser.add_argument('--nz', type=int, default=5, help='size of the latent z vector')
parser.add_argument('--niter', type=int, default=3, help='number of iterations')
parser.add_argument('--netG', default='', help="path to netG (to continue training)")
parser.add_argument('--netD', default='', help="path to netD (to continue training)")
parser.add_argument('--manualSeed', type=int, default=4)
opt = parser.parse_args()

random.seed(opt.manualSeed)
torch.manual_seed(opt.manualSeed)

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
nz = int(opt.nz)


def weights_init(m):
    if isinstance(m, nn.Linear):
        torch.nn.init.normal_(m.weight, 0.0, 0.2)
        torch.nn.init.zeros_(m.bias)


netG = nn.Sequential(nn.Linear(nz, 12), nn.ReLU(True), nn.Linear(12, 6), nn.Tanh()).to(device)
netG.apply(weights_init)
if opt.netG != '':
    netG.load_state_dict(torch.load(opt.netG))

netD = nn.Sequential(nn.Linear(6, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1)).to(device)
netD.apply(weights_init)
if opt.netD != '':
    netD.load_state_dict(torch.load(opt.netD))

criterion = nn.BCEWithLogitsLoss()

fixed_noise = torch.randn(opt.batchSize, nz).to(device)
real_label = 1
fake_label = 0

# setup optimizer
optimizerD = optim.Adam(netD.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.002, betas=(0.5, 0.999))

for it in range(opt.niter):
    # (1) Update D network
    netD.zero_grad()
    real = torch.rand(opt.batchSize, 6).to(device)
    label = torch.full((opt.batchSize,), real_label, dtype=real.dtype, device=device)
    errD_real = criterion(netD(real).view(-1), label)
    errD_real.backward()

    noise = torch.randn(opt.batchSize, nz).to(device)
    fake = netG(noise)
    label.fill_(fake_label)
    errD_fake = criterion(netD(fake.detach()).view(-1), label)
    errD_fake.backward()
    optimizerD.step()

    # (2) Update G network
    netG.zero_grad()
    label.fill_(real_label)
    errG = criterion(netD(fake).view(-1), label)
    errG.backward()
    optimizerG.step()

    print('[%d/%d] Loss_D: %.4f Loss_G: %.4f' % (
        it, opt.niter, errD_real.item() + errD_fake.item(), errG.item()))

# do checkpointing
torch.save(netG.state_dict(), 'netG_last.pth')
torch.save(netD.state_dict(), 'netD_last.pth')
