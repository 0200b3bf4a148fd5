import os

import torch
from torch import nn, optim

torch.manual_seed(7)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
checkpoint_dir = "checkpoints"
path_to_vgg = os.path.join(checkpoint_dir, "vgg.pth")


def make_vgg():
    return nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 3, padding=1))


def init_vgg():
    vgg16 = make_vgg()
    try:
        vgg16.load_state_dict(torch.load(path_to_vgg, map_location=device))
        vgg16 = vgg16.to(device)
        print("vgg16 loaded from disk")
    except FileNotFoundError:
        print("vgg16 not found, making it")
        vgg16 = make_vgg()
        os.makedirs(checkpoint_dir, exist_ok=True)
        torch.save(vgg16.state_dict(), path_to_vgg)
        vgg16 = vgg16.to(device)
    for param in vgg16.parameters():
        param.requires_grad = False
    return vgg16


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.conv_1 = nn.Conv2d(3, 8, 3, padding=1)
        self.norm_1 = nn.BatchNorm2d(8)
        self.conv_2 = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x):
        return torch.sigmoid(self.conv_2(torch.relu(self.norm_1(self.conv_1(x)))))


class ContentLoss(nn.Module):
    def __init__(self, omega=10):
        super().__init__()
        self.base_loss = nn.L1Loss()
        self.omega = omega

    def forward(self, generated, real):
        features_real = vgg(real).detach()
        return self.omega * self.base_loss(vgg(generated), features_real)


vgg = init_vgg()
G = Generator().to(device)
content_loss = ContentLoss()
g_optimizer = optim.Adam(G.parameters(), 0.0002, betas=(0.5, 0.999))


def train(num_epochs, photo_image_loader):
    for epoch in range(num_epochs):
        for index, photo_images in enumerate(photo_image_loader):
            photo_images = photo_images.to(device)
            g_optimizer.zero_grad()
            generated_images = G(photo_images)
            g_loss = content_loss(generated_images, photo_images)
            g_loss.backward()
            g_optimizer.step()
            print("epoch %d, batch %d, loss %.4f" % (epoch, index, g_loss.item()))


train(2, torch.rand(8, 3, 8, 8).split(4))
