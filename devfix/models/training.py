"""Models of checkpoints, data loading and optimizers: rows of the table in :mod:`devfix.models.index`.

A Python table for now; it becomes stub data.
"""

from __future__ import annotations

from devfix.models.frameworks import DOCS, Row

__all__ = ["TRAINING"]

TRAINING = (
    # checkpoints
    Row("load", "torch.", "load", DOCS + "generated/torch.load.html"),
    Row("open-file", "safetensors.", "safe_open torch.safe_open", "https://huggingface.co/docs/safetensors/api/torch"),
    Row("load-file", "safetensors.torch.", "load_file", "https://huggingface.co/docs/safetensors/api/torch"),
    Row("save", "torch.", "save", DOCS + "generated/torch.save.html"),
    Row(
        "needs-cpu-state",
        "torch.",
        "set_rng_state random.set_rng_state cuda.set_rng_state cuda.set_rng_state_all",
        DOCS + "random.html",
    ),
    # type checks
    Row("is-tensor", "torch.", "is_tensor", DOCS + "generated/torch.is_tensor.html"),
    # data
    Row("loader", "torch.utils.data.", "DataLoader dataloader.DataLoader", DOCS + "data.html"),
    Row("tensor-dataset", "torch.utils.data.", "TensorDataset dataset.TensorDataset", DOCS + "data.html"),
    Row("same-dataset", "torch.utils.data.", "Subset dataset.Subset ConcatDataset", DOCS + "data.html"),
    Row("split-dataset", "torch.utils.data.", "random_split dataset.random_split", DOCS + "data.html"),
    Row(
        "default-collate",
        "torch.utils.data.",
        "default_collate dataloader.default_collate _utils.collate.default_collate",
        DOCS + "data.html",
    ),
    Row(
        "image-dataset",
        "torchvision.datasets.",
        "MNIST FashionMNIST KMNIST QMNIST EMNIST CIFAR10 CIFAR100 SVHN STL10 ImageFolder ImageNet DatasetFolder "
        "FakeData Flowers102 Food101 OxfordIIITPet StanfordCars GTSRB Caltech101 Caltech256 DTD FGVCAircraft EuroSAT",
        "https://docs.pytorch.org/vision/stable/datasets.html",
    ),
    # optimizers; "eager": the state is created in the constructor
    Row("optimizer-eager", "torch.optim.", "Adagrad adagrad.Adagrad", DOCS + "generated/torch.optim.Adagrad.html"),
    Row("scheduler", "torch.optim.lr_scheduler.", "*", DOCS + "optim.html#how-to-adjust-learning-rate"),
    Row("averaged", "torch.optim.swa_utils.", "AveragedModel", DOCS + "optim.html#weight-averaging-swa-and-ema"),
    Row(
        "scheduler",
        "transformers.",
        "get_scheduler get_linear_schedule_with_warmup get_cosine_schedule_with_warmup",
        "https://huggingface.co/docs/transformers/main_classes/optimizer_schedules",
    ),
    Row("optimizer", "torch.optim.", "*", DOCS + "optim.html"),
    Row(
        "optimizer",
        "transformers.",
        "AdamW Adafactor optimization.AdamW",
        "https://huggingface.co/docs/transformers/main_classes/optimizer_schedules",
    ),
    Row("scaler", "torch.", "cuda.amp.GradScaler amp.GradScaler cuda.amp.grad_scaler.GradScaler", DOCS + "amp.html"),
)
