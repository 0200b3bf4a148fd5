from functools import partial

import numpy as np
import torch
import torch.nn as nn


def extract_into_tensor(a, t, x_shape):
    b, *_ = t.shape
    out = a.gather(-1, t)
    return out.reshape(b, *((1,) * (len(x_shape) - 1)))


class DDPM(nn.Module):
    # diffusion with a learnable or fixed log variance per timestep
    def __init__(self, net, timesteps=50, linear_start=1e-3, linear_end=2e-2, logvar_init=0.1, learn_logvar=False,
                 original_elbo_weight=0.1, l_simple_weight=1.):
        super().__init__()
        self.model = net
        self.l_simple_weight = l_simple_weight
        self.original_elbo_weight = original_elbo_weight
        self.register_schedule(timesteps, linear_start, linear_end)
        self.learn_logvar = learn_logvar
        self.logvar = torch.full(fill_value=logvar_init, size=(self.num_timesteps,))
        if self.learn_logvar:
            self.logvar = nn.Parameter(self.logvar, requires_grad=True)

    @property
    def device(self):
        return next(self.model.parameters()).device

    def register_schedule(self, timesteps, linear_start, linear_end):
        betas = np.linspace(linear_start ** 0.5, linear_end ** 0.5, timesteps) ** 2
        alphas_cumprod = np.cumprod(1. - betas, axis=0)
        self.num_timesteps = int(timesteps)
        to_torch = partial(torch.tensor, dtype=torch.float32)
        self.register_buffer('betas', to_torch(betas))
        self.register_buffer('sqrt_alphas_cumprod', to_torch(np.sqrt(alphas_cumprod)))
        self.register_buffer('sqrt_one_minus_alphas_cumprod', to_torch(np.sqrt(1. - alphas_cumprod)))
        self.register_buffer('lvlb_weights', to_torch(betas / (1. - alphas_cumprod)))

    def q_sample(self, x_start, t, noise):
        return (extract_into_tensor(self.sqrt_alphas_cumprod, t, x_start.shape) * x_start +
                extract_into_tensor(self.sqrt_one_minus_alphas_cumprod, t, x_start.shape) * noise)

    def p_losses(self, x_start, cond, t, noise=None):
        noise = torch.randn_like(x_start) if noise is None else noise
        x_noisy = self.q_sample(x_start=x_start, t=t, noise=noise)
        model_output = self.model(torch.cat([x_noisy, cond], dim=1))
        loss_dict = {}
        loss_simple = (model_output - noise).pow(2).mean([1])
        loss_dict.update({'loss_simple': loss_simple.mean().item()})

        logvar_t = self.logvar[t.cpu()].to(self.device)
        loss = loss_simple / torch.exp(logvar_t) + logvar_t
        loss = self.l_simple_weight * loss.mean()
        loss_vlb = (self.lvlb_weights[t] * loss_simple).mean()
        loss += (self.original_elbo_weight * loss_vlb)
        loss_dict.update({'loss': loss.item()})
        return loss, loss_dict

    def forward(self, x, c):
        t = torch.randint(0, self.num_timesteps, (x.shape[0],), device=self.device).long()
        return self.p_losses(x, c, t)
