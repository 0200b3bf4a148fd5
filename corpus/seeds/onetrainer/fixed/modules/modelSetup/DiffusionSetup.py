import torch
import torch.nn.functional as F


class DiffusionSetup:
    def __init__(self, train_device: torch.device, temp_device: torch.device):
        self.train_device = train_device
        self.temp_device = temp_device

    def create_parameters(self, model, config):
        return list(model.text_encoder.parameters()) + list(model.unet.parameters())

    def setup_train_device(self, model, config):
        vae_on_train_device = not config.latent_caching
        text_encoder_on_train_device = config.train_text_encoder

        model.text_encoder_to(self.train_device if text_encoder_on_train_device else self.temp_device)
        model.vae_to(self.train_device if vae_on_train_device else self.temp_device)
        model.unet_to(self.train_device)
        model.text_encoder.train()
        model.unet.train()

    def predict(self, model, batch, config, generator):
        latent = batch["latent"].to(self.train_device)
        text = model.encode_text(batch["tokens"].to(self.train_device))
        noise = torch.randn(latent.shape, generator=generator).to(self.train_device)
        t = torch.rand(latent.shape[0], 1, generator=generator).to(self.train_device)
        noisy = (1 - t) * latent + t * noise
        predicted = model.unet(torch.cat([noisy, text, t], dim=1))
        return {"predicted": predicted, "target": noise - latent}

    def calculate_loss(self, output):
        return F.mse_loss(output["predicted"], output["target"])
