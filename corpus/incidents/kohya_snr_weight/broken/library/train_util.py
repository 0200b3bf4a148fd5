import torch


class DDPMScheduler:
    def __init__(self, beta_start=0.001, beta_end=0.02, num_train_timesteps=100):
        self.betas = torch.linspace(beta_start**0.5, beta_end**0.5, num_train_timesteps, dtype=torch.float32) ** 2
        self.alphas_cumprod = torch.cumprod(1.0 - self.betas, dim=0)
        self.num_train_timesteps = num_train_timesteps

    def add_noise(self, original_samples, noise, timesteps):
        alphas_cumprod = self.alphas_cumprod.to(device=original_samples.device, dtype=original_samples.dtype)
        timesteps = timesteps.to(original_samples.device)
        sqrt_alpha_prod = alphas_cumprod[timesteps].flatten()[:, None] ** 0.5
        sqrt_one_minus_alpha_prod = (1 - alphas_cumprod[timesteps]).flatten()[:, None] ** 0.5
        return sqrt_alpha_prod * original_samples + sqrt_one_minus_alpha_prod * noise


class Accelerator:
    """As much as the script needs: one process, one device."""

    def __init__(self):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def prepare(self, *objects):
        return tuple(o.to(self.device) if isinstance(o, torch.nn.Module) else o for o in objects)

    def backward(self, loss):
        loss.backward()


def set_seed(seed):
    torch.manual_seed(seed)
