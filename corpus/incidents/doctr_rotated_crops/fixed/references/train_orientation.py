import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from ocr.classification import CropOrientationPredictor, PreProcessor, small_orientation


def crops_of(rng, number):
    base = [rng.random((10 + i % 3, 14, 3), dtype=np.float32) for i in range(number)]
    turns = rng.integers(0, 4, number)
    return [np.rot90(crop, k) for crop, k in zip(base, turns)], torch.from_numpy(turns)


def fit_one_epoch(model, batches, targets, optimizer):
    model = model.train()
    for images, target in zip(batches, targets):
        if torch.cuda.is_available():
            images = images.cuda()
            target = target.cuda()
        train_loss = cross_entropy(model(images), target)
        optimizer.zero_grad()
        train_loss.backward()
        optimizer.step()
        print("loss", train_loss.item())


def main():
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    pre_processor = PreProcessor((12, 12), batch_size=8)
    crops, turns = crops_of(rng, 32)
    model = small_orientation()
    model(torch.zeros(2, 3, 12, 12))
    if torch.cuda.is_available():
        model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    fit_one_epoch(model, pre_processor(crops), turns.split(8), optimizer)

    predictor = CropOrientationPredictor(pre_processor, model)
    val_crops, val_turns = crops_of(rng, 10)
    found = predictor(val_crops)
    print("right", sum(int(a == b) for a, b in zip(found, val_turns.tolist())), "of", len(found))


if __name__ == "__main__":
    main()
