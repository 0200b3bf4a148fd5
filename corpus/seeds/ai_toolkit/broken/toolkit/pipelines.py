import torch

from diffuse.pipelines import FluxPipeline


class FluxWithCFGPipeline(FluxPipeline):
    @torch.no_grad()
    def __call__(self, height, width, device, generator=None):
        latents, latent_image_ids = self.prepare_latents(1, 8, height, width, torch.float32, device, generator)
        for _ in range(2):
            latents = latents - 0.5 * self.transformer(latents)
        return latents + latent_image_ids[..., 1].mean()
