import torch

import engine  # noqa: F401
from engine.runner import Runner

config = dict(
    model=dict(type="mlp", sizes=(5, 16, 1)),
    optimizer=dict(type="adagrad", lr=0.05),
    callbacks=[dict(type="placement"), dict(type="log")],
    steps=5,
)

if __name__ == "__main__":
    torch.manual_seed(13)
    Runner(config).fit()
