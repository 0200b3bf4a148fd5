import torch
from torch import nn, optim

torch.manual_seed(3)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
nz = 6

netG = nn.Sequential(nn.Linear(nz, 12), nn.ReLU(), nn.Linear(12, 4)).to(device)
netD = nn.Sequential(nn.Linear(4, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1)).to(device)
optG = optim.Adam(netG.parameters(), lr=2e-3)
optD = optim.Adam(netD.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss()
fixed_noise = torch.randn(3, nz)


def sample(generator, noise):
    generator.to("cpu")
    with torch.no_grad():
        return generator(noise)


for epoch in range(2):
    for step in range(2):
        real = torch.randn(8, 4).to(device) + 1
        fake = netG(torch.randn(8, nz).to(device))

        optD.zero_grad()
        lossD = criterion(netD(real), torch.ones(8, 1, device=device))
        lossD = lossD + criterion(netD(fake.detach()), torch.zeros(8, 1, device=device))
        lossD.backward()
        optD.step()

        optG.zero_grad()
        lossG = criterion(netD(fake), torch.ones(8, 1, device=device))
        lossG.backward()
        optG.step()
        print(f"[{epoch}][{step}] D {lossD.item():.4f} G {lossG.item():.4f}")

    images = sample(netG, fixed_noise)
    print("mean of the samples", round(images.mean().item(), 4))
