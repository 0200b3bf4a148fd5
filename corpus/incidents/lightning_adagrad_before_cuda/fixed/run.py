import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from light import LightModule, Trainer


class CoolSystem(LightModule):

    def __init__(self):
        super(CoolSystem, self).__init__()
        self.l1 = nn.Linear(14, 5)

    def forward(self, x):
        return torch.relu(self.l1(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return {'loss': nn.functional.cross_entropy(self.forward(x), y)}

    def configure_optimizers(self):
        return torch.optim.Adagrad(self.parameters(), lr=0.02)

    def train_dataloader(self):
        return DataLoader(TensorDataset(torch.randn(20, 14), torch.randint(5, (20,))), batch_size=10)


if __name__ == '__main__':
    torch.manual_seed(554)
    Trainer(gpus=1, max_epochs=2).fit(CoolSystem())
