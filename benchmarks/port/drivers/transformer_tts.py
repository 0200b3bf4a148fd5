import sys
import types

import torch


class Writer:
    def add_scalars(self, name, values, step):
        print(step, name, {key: float(value) for key, value in values.items()})


sys.modules["tensorboardX"] = types.ModuleType("tensorboardX")
sys.modules["tensorboardX"].SummaryWriter = Writer
import hyperparams  # noqa: E402
import train_transformer  # noqa: E402


class Bar:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        return iter(self.loader)

    def set_description(self, text):
        print(text)


def batches(dataset, batch_size, **options):
    for _ in range(3):
        text, positions = torch.randint(1, 60, (2, 6)), torch.arange(1, 7).repeat(2, 1)
        mel, frames = torch.rand(2, 9, hyperparams.num_mels), torch.arange(1, 10).repeat(2, 1)
        yield text, mel, mel.roll(1, 1), positions, frames, [6, 6]


torch.manual_seed(0)
hyperparams.hidden_size, hyperparams.embedding_size = 32, 32
hyperparams.epochs, hyperparams.image_step = 1, 1
train_transformer.get_dataset = list
train_transformer.DataLoader = batches
train_transformer.tqdm = Bar
train_transformer.main()
