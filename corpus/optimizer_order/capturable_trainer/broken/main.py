import argparse

import torch

from trainer import Trainer

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--load")
    parser.add_argument("--dump")
    args = parser.parse_args()
    torch.manual_seed(0)
    trainer = Trainer(state_path=args.load)
    trainer.train(num_steps=4)
    if args.dump:
        trainer.dump(args.dump)
