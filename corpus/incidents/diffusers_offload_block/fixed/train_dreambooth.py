import argparse

import torch
from torch import nn

from training_utils import get_device, offload_models


class AutoencoderKL(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(24, 8)
        self.decoder = nn.Linear(8, 24)
        self.scaling_factor = 0.5

    @property
    def dtype(self):
        return self.encoder.weight.dtype

    def encode(self, pixel_values):
        return self.encoder(pixel_values).tanh()


def main(args):
    torch.manual_seed(13417)
    device = get_device()
    weight_dtype = torch.float32

    vae = AutoencoderKL()
    transformer = nn.Sequential(nn.Linear(9, 32), nn.GELU(), nn.Linear(32, 8))
    vae.requires_grad_(False)

    to_kwargs = {"dtype": weight_dtype, "device": device} if not args.offload else {"dtype": weight_dtype}
    vae.to(**to_kwargs)
    transformer.to(device, dtype=weight_dtype)

    train_dataloader = [{"pixel_values": torch.rand(4, 24), "prompts": ["a photo of sks dog"] * 4} for _ in range(2)]

    if args.cache_latents:
        latents_cache = []
        with offload_models(vae, device=device, offload=args.offload):
            for batch in train_dataloader:
                with torch.no_grad():
                    batch["pixel_values"] = batch["pixel_values"].to(device, non_blocking=True, dtype=vae.dtype)
                    latents_cache.append(vae.encode(batch["pixel_values"]))

    optimizer = torch.optim.AdamW(transformer.parameters(), lr=args.learning_rate)
    for epoch in range(args.num_train_epochs):
        transformer.train()
        for step, batch in enumerate(train_dataloader):
            # Convert images to latent space
            if args.cache_latents:
                model_input = latents_cache[step]
            else:
                with offload_models(vae, device=device, offload=args.offload):
                    pixel_values = batch["pixel_values"].to(device=device, dtype=vae.dtype)
                    model_input = vae.encode(pixel_values)
            model_input = model_input * vae.scaling_factor

            # Sample noise and a sigma for each image
            noise = torch.randn_like(model_input)
            sigmas = torch.rand(len(model_input), 1).to(model_input.device)
            noisy_model_input = (1.0 - sigmas) * model_input + sigmas * noise
            model_pred = transformer(torch.cat([noisy_model_input, sigmas], dim=1))
            loss = torch.mean((model_pred.float() - (noise - model_input).float()) ** 2)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            print(epoch, step, loss.detach().item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--num_train_epochs", type=int, default=2)
    parser.add_argument("--cache_latents", action="store_true", default=False)
    parser.add_argument("--offload", action="store_true", help="Whether to offload the VAE to CPU when it is not used.")
    main(parser.parse_args())
