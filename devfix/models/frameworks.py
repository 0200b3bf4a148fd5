"""Models of the frameworks around PyTorch: rows of the table in :mod:`devfix.models.index`.

A Python table for now; it becomes stub data.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEVICE_PLACING_TRAINERS", "DOCS", "FRAMEWORKS", "INFERENCE_METHODS", "MANAGED", "Row"]


@dataclass(frozen=True)
class Row:
    """One row: callables and their common model.

    Attributes:
        model: name of the model (:mod:`devfix.analysis.transfer.external_calls` has its transfer function).
        prefix: common start of the full names.
        names: their endings, separated by white space; a final ``*`` matches any continuation.
        link: documentation of the behaviour.

    """

    model: str
    prefix: str
    names: str
    link: str


#: PyTorch's documentation.
DOCS = "https://docs.pytorch.org/docs/stable/"

_LIGHTNING = "https://lightning.ai/docs/pytorch/stable/"
_PYG = "https://pytorch-geometric.readthedocs.io/en/latest/"
_DGL = "https://www.dgl.ai/dgl_docs/"
_HF = "https://huggingface.co/docs/"
_IGNITE = "https://docs.pytorch.org/ignite/"

FRAMEWORKS = (
    # objects that choose a device and move modules and loaders to it
    Row(
        "places", "accelerate.", "Accelerator accelerator.Accelerator", _HF + "accelerate/package_reference/accelerator"
    ),
    Row("places", "", "lightning.Fabric lightning.fabric.Fabric lightning_fabric.Fabric", _LIGHTNING + "fabric/"),
    Row(
        "training-arguments",
        "transformers.",
        "TrainingArguments Seq2SeqTrainingArguments",
        _HF + "transformers/trainer",
    ),
    # functions whose result is on the accelerator
    Row("brings", "", "accelerate.utils.send_to_device accelerate.utils.operations.send_to_device", _HF + "accelerate"),
    Row("brings", "ignite.", "utils.convert_tensor distributed.auto_model", _IGNITE + "distributed.html"),
    Row(
        "brings",
        "torch_xla.distributed.parallel_loader.",
        "MpDeviceLoader ParallelLoader",
        "https://docs.pytorch.org/xla/master/learn/api-guide.html",
    ),
    Row("engine", "deepspeed.", "initialize", "https://deepspeed.readthedocs.io/en/latest/initialize.html"),
    Row("same", "ignite.distributed.", "auto_optim", _IGNITE + "distributed.html"),
    Row("loader", "ignite.distributed.", "auto_dataloader", _IGNITE + "distributed.html"),
    Row("accelerator-device", "ignite.distributed.", "device", _IGNITE + "distributed.html"),
    Row("accelerator-device", "torch_geometric.", "device", _PYG + "modules/root.html"),
    Row(
        "accelerator-device",
        "torch_xla.",
        "core.xla_model.xla_device device",
        "https://docs.pytorch.org/xla/master/learn/api-guide.html",
    ),
    # functions that call functions of the project
    Row(
        "calls",
        "",
        "accelerate.notebook_launcher accelerate.launchers.notebook_launcher "
        "torch_xla.distributed.xla_multiprocessing.spawn torch_xla.launch",
        _HF + "accelerate/package_reference/launchers",
    ),
    Row("launches", "ignite.distributed.", "Parallel launcher.Parallel", _IGNITE + "distributed.html"),
    Row(
        "trains",
        "",
        "lightning.pytorch.cli.LightningCLI pytorch_lightning.cli.LightningCLI "
        "pytorch_lightning.utilities.cli.LightningCLI",
        _LIGHTNING + "cli/lightning_cli.html",
    ),
    Row("steps", "ignite.engine.", "Engine engine.Engine", _IGNITE + "engine.html"),
    Row(
        "trainer",
        "",
        "lightning.Trainer lightning.pytorch.Trainer lightning.pytorch.trainer.Trainer pytorch_lightning.Trainer "
        "pytorch_lightning.trainer.Trainer pytorch_lightning.trainer.trainer.Trainer",
        _LIGHTNING + "common/trainer.html",
    ),
    Row(
        "placed-module",
        "",
        "lightning.LightningModule lightning.pytorch.LightningModule lightning.pytorch.core.LightningModule "
        "pytorch_lightning.LightningModule pytorch_lightning.core.LightningModule "
        "pytorch_lightning.core.lightning.LightningModule lightning.pytorch.core.module.LightningModule",
        _LIGHTNING + "common/lightning_module.html",
    ),
    # metrics are modules: `.to()` moves their state, and they need it
    Row("harmless", "torchmetrics.", "functional.* utilities.*", "https://lightning.ai/docs/torchmetrics/stable/"),
    Row("module-list", "torchmetrics.", "MetricCollection", "https://lightning.ai/docs/torchmetrics/stable/"),
    Row(
        "metric",
        "torchmetrics.",
        "*",
        "https://lightning.ai/docs/torchmetrics/stable/pages/overview.html#metrics-and-devices",
    ),
    # graphs: CPU data that `.to()` moves as a whole
    Row("loader", "torch_geometric.", "loader.DataLoader data.DataLoader", _PYG + "modules/loader.html"),
    Row("samples", "torch_geometric.loader.", "*", _PYG + "modules/loader.html"),
    Row(
        "graph", "torch_geometric.data.", "Data HeteroData data.Data hetero_data.HeteroData", _PYG + "modules/data.html"
    ),
    Row("graphs", "torch_geometric.datasets.", "*", _PYG + "modules/datasets.html"),
    Row(
        "graphs",
        "ogb.",
        "nodeproppred.PygNodePropPredDataset graphproppred.PygGraphPropPredDataset linkproppred.PygLinkPropPredDataset",
        "https://ogb.stanford.edu/docs/home/",
    ),
    Row("graph", "dgl.", "graph heterograph rand_graph add_self_loop", _DGL + "api/python/dgl.html"),
    Row(
        "graphs",
        "dgl.data.",
        "CoraGraphDataset CiteseerGraphDataset PubmedGraphDataset RedditDataset KarateClubDataset CoraFullDataset "
        "AmazonCoBuyComputerDataset AmazonCoBuyPhotoDataset CoauthorCSDataset CoauthorPhysicsDataset FraudYelpDataset "
        "FraudAmazonDataset",
        _DGL + "api/python/dgl.data.html",
    ),
    Row(
        "labelled-graphs",
        "dgl.data.",
        "GINDataset TUDataset LegacyTUDataset MiniGCDataset QM7bDataset QM9Dataset",
        _DGL + "api/python/dgl.data.html",
    ),
    Row("loader", "dgl.dataloading.", "GraphDataLoader", _DGL + "api/python/dgl.dataloading.html"),
)

# Frameworks that manage devices: the device of their objects is unknown.
MANAGED = (
    "accelerate.",
    "lightning.",
    "lightning_fabric.",
    "pytorch_lightning.",
    "deepspeed.",
    "ignite.",
    "skorch.",
    "fastai.",
    "transformers.Trainer",
    "transformers.Seq2SeqTrainer",
    "torch.distributed.fsdp.",
    "colossalai.",
    "composer.",
    "torch_xla.",
)

# Trainers that project classes derive from; they move model and batches to the accelerator before they call a method.
DEVICE_PLACING_TRAINERS = (
    "transformers.Trainer",
    "transformers.Seq2SeqTrainer",
    "transformers.trainer.Trainer",
    "trl.",
)

# Methods of library models that run the model, as a call does.
INFERENCE_METHODS = frozenset(
    "generate encode_image encode_text get_image_features get_text_features forward_features forward_head".split()
)
