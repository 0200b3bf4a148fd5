from collections import OrderedDict

import torch

from toolkit.flux import Flux2Model


class TrainProcess:
    def __init__(self, config: OrderedDict):
        self.config = config
        self.device = config.get("device", "cuda" if torch.cuda.is_available() else "cpu")
        self.device_torch = torch.device(self.device)
        self.sd = None

    def get_conf(self, key, default=None):
        return self.config.get(key, default)

    def hook_before_train_loop(self):
        self.sd = Flux2Model(self.device, low_vram=self.get_conf("low_vram", False))
        self.sd.load_model()
        self.optimizer = torch.optim.Adam(self.sd.unet.parameters(), lr=self.get_conf("lr", 1e-3))

    def hook_train_loop(self, batch):
        latents = batch["latents"].to(self.device_torch)
        noise = torch.randn(latents.shape).to(self.device_torch)
        noisy = (latents + noise) / 2
        pred = self.sd.get_noise_prediction(noisy, batch)
        loss = torch.nn.functional.mse_loss(pred, noise - latents)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return OrderedDict({"loss": loss.item()})

    def run(self):
        torch.manual_seed(489)
        self.hook_before_train_loop()
        for step in range(self.get_conf("steps", 4)):
            batch = {"latents": torch.randn(2, 4, 8), "control": torch.rand(2, 3, 16) if step % 2 else None}
            print(step, self.hook_train_loop(batch))


if __name__ == "__main__":
    TrainProcess(OrderedDict(low_vram=True, steps=4)).run()
