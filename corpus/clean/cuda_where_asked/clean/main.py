import argparse

import torch
import torch.nn as nn
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--disable-cuda", action="store_true")
opt = parser.parse_args()

cuda = torch.cuda.is_available() and not opt.disable_cuda
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor

torch.manual_seed(6)
generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
discriminator = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(), nn.Linear(8, 1), nn.Sigmoid())
adversarial_loss = nn.BCELoss()
if cuda:
    generator.cuda()
    discriminator.cuda()
    adversarial_loss.cuda()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)


def to_variable(x):
    return Variable(x.cuda()) if cuda else Variable(x)


for i in range(3):
    valid = Variable(Tensor(5, 1).fill_(1.0), requires_grad=False)
    fake = Variable(Tensor(5, 1).fill_(0.0), requires_grad=False)
    real = Variable(torch.randn(5, 3).type(Tensor))
    z = to_variable(torch.randn(5, 4))
    gen = generator(z)
    g_loss = adversarial_loss(discriminator(gen), valid)
    optimizer_g.zero_grad()
    g_loss.backward()
    optimizer_g.step()
    d_loss = adversarial_loss(discriminator(real), valid) + adversarial_loss(discriminator(gen.detach()), fake)
    optimizer_d.zero_grad()
    d_loss.backward()
    optimizer_d.step()
    print(i, g_loss.item(), d_loss.item())
