import torch.nn as nn


def replace_head(model, num_classes, p=0.0):
    """Swap the ImageNet head for one with our number of classes."""
    dim = model.head.in_features
    model.head = nn.Sequential(
        nn.LayerNorm(dim),
        nn.Dropout(p),
        nn.Linear(dim, num_classes),
    )
