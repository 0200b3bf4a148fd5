import torch


class LightModule(torch.nn.Module):
    """Model, data and optimizers in one class; the trainer does the rest."""

    def __init__(self):
        super(LightModule, self).__init__()
        self.trainer = None
        self.on_gpu = False

    def forward(self, *args, **kwargs):
        raise NotImplementedError

    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError

    def train_dataloader(self):
        raise NotImplementedError
