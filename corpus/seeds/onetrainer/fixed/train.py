import random

import torch

from modules.trainer.GenericTrainer import GenericTrainer
from modules.util.config.TrainConfig import TrainConfig


def main():
    random.seed(0)
    torch.manual_seed(0)
    config = TrainConfig(
        train_device="cuda" if torch.cuda.is_available() else "cpu",
        temp_device="cpu",
    )
    trainer = GenericTrainer(config)
    trainer.start()
    trainer.train()
    trainer.end()


if __name__ == "__main__":
    main()
