import argparse

import torch
from torch import nn

from library import train_util
from library.custom_train_functions import add_custom_train_arguments, apply_snr_weight, prepare_scheduler_for_custom_training


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(100, 12)
        self.layers = nn.Sequential(nn.Linear(12, 32), nn.SiLU(), nn.Linear(32, 12))

    def forward(self, sample, timestep):
        return self.layers(sample + self.time(timestep))


def train(args):
    train_util.set_seed(args.seed)
    accelerator = train_util.Accelerator()
    unet = UNet()
    optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-3)
    unet, optimizer = accelerator.prepare(unet, optimizer)

    noise_scheduler = train_util.DDPMScheduler()
    prepare_scheduler_for_custom_training(noise_scheduler)

    for step in range(args.max_train_steps):
        latents = torch.randn(6, 12).to(accelerator.device)
        noise = torch.randn_like(latents, device=latents.device)
        b_size = latents.shape[0]
        timesteps = torch.randint(0, noise_scheduler.num_train_timesteps, (b_size,), device=latents.device)
        timesteps = timesteps.long()
        noisy_latents = noise_scheduler.add_noise(latents, noise, timesteps)
        noise_pred = unet(noisy_latents, timesteps)
        loss = torch.nn.functional.mse_loss(noise_pred.float(), noise.float(), reduction="none")
        loss = loss.mean([1])
        if args.min_snr_gamma:
            loss = apply_snr_weight(loss, timesteps, noise_scheduler, args.min_snr_gamma)
        loss = loss.mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(step, loss.detach().item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--max_train_steps", type=int, default=4)
    parser.add_argument("--seed", type=int, default=8)
    add_custom_train_arguments(parser)
    train(parser.parse_args())
