import torch
from torch import nn


class UNet1D(nn.Module):
    def __init__(self, sample_size=16):
        super().__init__()
        self.sample_size = sample_size
        self.time = nn.Embedding(20, sample_size)
        self.net = nn.Sequential(nn.Linear(sample_size, 32), nn.SiLU(), nn.Linear(32, sample_size))

    def forward(self, sample, timestep):
        return self.net(sample + self.time(timestep))


class DDPMPipeline:
    def __init__(self, unet, num_train_timesteps=20):
        self.unet = unet
        self.num_train_timesteps = num_train_timesteps

    @property
    def device(self) -> torch.device:
        return next(self.unet.parameters()).device

    @torch.no_grad()
    def __call__(self, batch_size=1, generator=None, num_inference_steps=5):
        # Sample gaussian noise to begin loop
        image = torch.randn((batch_size, self.unet.sample_size), generator=generator, device=self.device)
        for t in reversed(range(num_inference_steps)):
            steps = torch.full((batch_size,), t, device=self.device)
            image = image - 0.1 * self.unet(image, steps)
        return image.clamp(-1, 1).cpu().numpy()
