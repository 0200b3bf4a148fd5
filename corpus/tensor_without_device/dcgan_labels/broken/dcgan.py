from __future__ import print_function

import argparse

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    def __init__(self, nz):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(nz, 16), nn.ReLU(True), nn.Linear(16, 8), nn.Tanh())

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, input):
        return self.main(input).view(-1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batchSize", type=int, default=8)
    parser.add_argument("--nz", type=int, default=4)
    parser.add_argument("--niter", type=int, default=2)
    opt = parser.parse_args()

    torch.manual_seed(999)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

    dataset = TensorDataset(torch.randn(24, 8))
    dataloader = DataLoader(dataset, batch_size=opt.batchSize, shuffle=True)

    netG = Generator(opt.nz).to(device)
    netD = Discriminator().to(device)
    criterion = nn.BCELoss()

    fixed_noise = torch.randn(opt.batchSize, opt.nz)
    real_label = 1
    fake_label = 0

    optimizerD = optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))

    for epoch in range(opt.niter):
        for i, data in enumerate(dataloader, 0):
            # (1) update D with all-real, then all-fake batches
            netD.zero_grad()
            real = data[0].to(device)
            batch_size = real.size(0)
            label = torch.full((batch_size,), real_label, dtype=real.dtype)

            errD_real = criterion(netD(real), label)
            errD_real.backward()

            noise = torch.randn(batch_size, opt.nz)
            fake = netG(noise)
            label.fill_(fake_label)
            errD_fake = criterion(netD(fake.detach()), label)
            errD_fake.backward()
            optimizerD.step()

            # (2) update G
            netG.zero_grad()
            label.fill_(real_label)  # fake labels are real for generator cost
            errG = criterion(netD(fake), label)
            errG.backward()
            optimizerG.step()
            print(
                "[%d/%d][%d/%d] Loss_D: %.4f Loss_G: %.4f"
                % (epoch, opt.niter, i, len(dataloader), (errD_real + errD_fake).item(), errG.item())
            )

        samples = netG(fixed_noise).detach().cpu()
        print("mean of samples %.4f" % samples.mean().item())
