"""Fine-tune a (tiny) VGG on a new set of classes. Only the classifier is trained."""
import argparse
import random

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset

from vgg import vgg_tiny


class Blobs(Dataset):
    def __init__(self, n, num_classes, seed):
        rng = np.random.RandomState(seed)
        self.targets = rng.randint(0, num_classes, size=n)
        self.data = (rng.randn(n, 3, 8, 8) + self.targets[:, None, None, None]).astype("float32")

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        return torch.from_numpy(self.data[index]), int(self.targets[index])


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-classes", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def main():
    args = parse_args()
    set_seed(args.seed)

    if torch.cuda.is_available():
        device = torch.device("cuda:0")
    else:
        device = torch.device("cpu")

    model = vgg_tiny(num_classes=1000)
    model = model.to(device)

    # freeze everything that came with the pretrained weights
    for param in model.parameters():
        param.requires_grad = False

    in_features = model.classifier[6].in_features
    model.classifier[6] = nn.Linear(in_features, args.num_classes)
    model = model.to(device)

    params_to_update = [p for p in model.parameters() if p.requires_grad]
    optimizer = optim.Adam(params_to_update, lr=args.lr)
    criterion = nn.CrossEntropyLoss()

    loader = DataLoader(Blobs(48, args.num_classes, seed=0), batch_size=12, shuffle=True)
    for epoch in range(args.epochs):
        model.train()
        total, correct, seen = 0.0, 0, 0
        for inputs, targets in loader:
            inputs = inputs.to(device)
            targets = targets.to(device)
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = criterion(outputs, targets)
            loss.backward()
            optimizer.step()
            total += loss.item() * inputs.size(0)
            correct += (outputs.argmax(1) == targets).sum().item()
            seen += inputs.size(0)
        print("epoch %d loss %.5f acc %.3f" % (epoch, total / seen, correct / seen))


if __name__ == "__main__":
    main()
