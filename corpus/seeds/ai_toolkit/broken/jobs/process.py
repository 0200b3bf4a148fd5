import torch
from torch import nn

from toolkit.pipelines import FluxWithCFGPipeline


class BaseTrainProcess:
    def __init__(self, process_id, job, config):
        self.process_id = process_id
        self.job = job
        self.raw_config = config
        self.device = self.get_conf("device", self.job.device)
        self.device = self.job.device if self.device == "auto" else self.device
        self.device_torch = torch.device(self.device)

    def get_conf(self, key, default=None):
        value = self.raw_config
        for part in key.split("."):
            if part not in value:
                return default
            value = value[part]
        return value


class LoRALinear(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class SDTrainer(BaseTrainProcess):
    def __init__(self, process_id, job, config):
        super().__init__(process_id, job, config)
        self.steps = self.get_conf("train.steps", 4)
        self.batch_size = self.get_conf("train.batch_size", 2)
        transformer = nn.Linear(8, 8)
        transformer.requires_grad_(False)
        self.network = LoRALinear(transformer).to(self.device_torch)
        params = [p for p in self.network.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(params, lr=self.get_conf("train.lr", 1e-4))
        self.pipeline = FluxWithCFGPipeline(self.network)

    def sample(self, step):
        height, width = self.get_conf("sample.height"), self.get_conf("sample.width")
        image = self.pipeline(height, width, self.device_torch, generator=torch.Generator().manual_seed(step))
        print(f"step {step}: sample mean {image.mean().item():.5f}")

    def run(self):
        generator = torch.Generator().manual_seed(3)
        for step in range(self.steps):
            latents = torch.randn(self.batch_size, 8, generator=generator).to(self.device_torch)
            noise = torch.randn(self.batch_size, 8, generator=generator).to(self.device_torch)
            pred = self.network(latents + noise)
            loss = nn.functional.mse_loss(pred, noise - latents)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print(f"step {step}: loss {loss.item():.5f}")
            if step % self.get_conf("sample.sample_every", 2) == 0:
                self.sample(step)
