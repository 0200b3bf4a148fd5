import argparse

import torch
from torch import nn

from adversarial_loss import PatchAdversarialLoss


def main(args):
    torch.manual_seed(371)
    device = torch.device(args.device)
    generator = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1)).to(device)
    discriminator = nn.Sequential(nn.Conv2d(1, 4, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(4, 1, 2)).to(device)
    optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-4)
    optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=5e-4)
    l1_loss = nn.L1Loss()
    adv_loss = PatchAdversarialLoss(criterion="least_squares")
    adv_weight = 0.01

    for step in range(3):
        images = torch.rand(2, 1, 10, 10).to(device)
        optimizer_g.zero_grad(set_to_none=True)
        reconstruction = generator(images)
        logits_fake = discriminator(reconstruction)
        generator_loss = adv_loss(logits_fake, target_is_real=True, for_discriminator=False)
        loss_g = l1_loss(reconstruction.float(), images.float()) + adv_weight * generator_loss
        loss_g.backward()
        optimizer_g.step()

        optimizer_d.zero_grad(set_to_none=True)
        loss_d_fake = adv_loss(discriminator(reconstruction.detach()), target_is_real=False, for_discriminator=True)
        loss_d_real = adv_loss(discriminator(images.detach()), target_is_real=True, for_discriminator=True)
        loss_d = adv_weight * (loss_d_fake + loss_d_real) * 0.5
        loss_d.backward()
        optimizer_d.step()
        print(step, loss_g.item(), loss_d.item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    main(parser.parse_args())
