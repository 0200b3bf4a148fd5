import torch
from torch import nn


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(16, 8)

    @property
    def device(self):
        return next(self.parameters()).device

    def encode(self, images):
        return self.down(images)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 12)
        self.pos = nn.Embedding(16, 12)
        self.attn = nn.MultiheadAttention(12, 2, batch_first=True)
        self.out = nn.Linear(12, 8)

    def forward(self, img, img_ids):
        x = self.proj(img) + self.pos(img_ids)
        x = x + self.attn(x, x, x, need_weights=False)[0]
        return self.out(x)


def encode_image_refs(vae, images):
    """Tokens of the control images and their ids, behind those of the image itself."""
    with torch.no_grad():
        tokens = vae.encode(images.to(vae.device))
    ids = torch.arange(8, 8 + tokens.shape[1]).expand(tokens.shape[0], -1)
    return tokens, ids


class Flux2Model:
    def __init__(self, device, low_vram=False):
        self.device_torch = torch.device(device)
        self.vae_device_torch = torch.device("cpu") if low_vram else self.device_torch
        self.low_vram = low_vram
        self.vae = None
        self.unet = None

    def load_model(self):
        self.unet = Transformer()
        self.unet.to(self.device_torch)
        self.vae = Vae()
        self.vae.requires_grad_(False)
        self.vae.eval()
        self.vae.to(self.vae_device_torch)

    def get_noise_prediction(self, latent_model_input, batch):
        packed_latents = latent_model_input
        img_ids = torch.arange(packed_latents.shape[1], device=self.device_torch)
        img_ids = img_ids.expand(packed_latents.shape[0], -1)
        img_input = packed_latents
        img_input_ids = img_ids
        if batch["control"] is not None:
            img_cond_seq, img_cond_seq_ids = encode_image_refs(self.vae, batch["control"])
            img_input = torch.cat((img_input, img_cond_seq.to(img_input.device, img_input.dtype)), dim=1)
            img_input_ids = torch.cat((img_input_ids, img_cond_seq_ids.to(img_input_ids.device)), dim=1)
        pred = self.unet(img_input, img_input_ids)
        return pred[:, : packed_latents.shape[1]]
