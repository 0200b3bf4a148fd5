import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import config
from model import ContentLoss, Discriminator, Generator


def main():
    train_dataloader = load_dataset()
    discriminator, generator = build_model()
    pixel_criterion, content_criterion, adversarial_criterion = define_loss()
    d_optimizer = optim.Adam(discriminator.parameters(), 1e-4, (0.9, 0.999))
    g_optimizer = optim.Adam(generator.parameters(), 1e-4, (0.9, 0.999))
    for epoch in range(config.epochs):
        train(discriminator, generator, train_dataloader, pixel_criterion, content_criterion, adversarial_criterion,
              d_optimizer, g_optimizer, epoch)


def load_dataset():
    hr = torch.rand(8, 3, 16, 16)
    lr = F.interpolate(hr, scale_factor=1 / config.upscale_factor, mode="bilinear")
    return DataLoader(TensorDataset(lr, hr), batch_size=4, shuffle=True)


def build_model():
    discriminator = Discriminator().to(config.device)
    generator = Generator().to(config.device)
    return discriminator, generator


def define_loss():
    pixel_criterion = nn.MSELoss().to(config.device)
    content_criterion = ContentLoss().to(config.device)
    adversarial_criterion = nn.BCEWithLogitsLoss().to(config.device)
    return pixel_criterion, content_criterion, adversarial_criterion


def train(discriminator, generator, train_dataloader, pixel_criterion, content_criterion, adversarial_criterion,
          d_optimizer, g_optimizer, epoch):
    discriminator.train()
    generator.train()
    for index, (lr, hr) in enumerate(train_dataloader):
        lr = lr.to(config.device, non_blocking=True)
        hr = hr.to(config.device, non_blocking=True)
        real_label = torch.full([lr.size(0), 1], 1.0, dtype=lr.dtype, device=config.device)
        fake_label = torch.full([lr.size(0), 1], 0.0, dtype=lr.dtype, device=config.device)
        sr = generator(lr)

        # Train discriminator
        d_optimizer.zero_grad()
        d_loss = adversarial_criterion(discriminator(hr), real_label) + adversarial_criterion(discriminator(sr.detach()), fake_label)
        d_loss.backward()
        d_optimizer.step()

        # Train generator
        g_optimizer.zero_grad()
        pixel_loss = config.pixel_weight * pixel_criterion(sr, hr)
        content_loss = config.content_weight * content_criterion(sr, hr)
        adversarial_loss = config.adversarial_weight * adversarial_criterion(discriminator(sr), real_label)
        g_loss = pixel_loss + content_loss + adversarial_loss
        g_loss.backward()
        g_optimizer.step()
        print(f"Train Epoch[{epoch + 1:04d}]({index + 1:05d}) D Loss: {d_loss.item():.6f} G Loss: {g_loss.item():.6f}")


if __name__ == "__main__":
    main()
