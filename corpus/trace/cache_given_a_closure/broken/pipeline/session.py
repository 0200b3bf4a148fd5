import torch
from torch import nn

PARTS = {
    "encoder": ("Embedding", 20, 8),
    "denoiser": ("Sequential", nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 8)),
}


class Session:
    def __init__(self, train_device):
        self.train_device = train_device
        self.temp_device = torch.device("cpu")
        for name, (kind, *args) in PARTS.items():
            setattr(self, name, getattr(nn, kind)(*args))
        self.place(self.train_device)
        params = [*self.encoder.parameters(), *self.denoiser.parameters()]
        self.opt = torch.optim.AdamW(params, lr=1e-3)

    def place(self, device):
        for name in PARTS:
            getattr(self, name).to(device)

    def install_hooks(self, cache):
        def park(epoch):
            for name in PARTS:
                getattr(self, name).to(self.temp_device)

        cache.on("before", park)
        cache.on("after", lambda n: print(f"cached {n}"))

    def begin(self, epoch):
        if epoch == 0:
            self.place(self.train_device)
        self.denoiser.train()

    def step(self, latent, tokens):
        latent, tokens = latent.to(self.train_device), tokens.to(self.train_device)
        text = self.encoder(tokens).mean(dim=1)
        loss = (self.denoiser(torch.cat([latent, text], dim=1)) - latent).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()
