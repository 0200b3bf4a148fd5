"""Names that say something by themselves: methods, flags of frameworks, factories."""

from __future__ import annotations

import re

__all__ = [
    "CPU_ONLY_FACTORIES",
    "DEVICE_PLACING_TRAINERS",
    "FRAMEWORK_CLASSES",
    "INFERENCE_METHODS",
    "MANAGED",
    "MODULE_METHODS",
    "NN_MODULE_METHODS",
    "RANDOM_FACTORIES",
    "RANDOM_METHODS",
    "READ_ONLY_METHODS",
    "TELL_TENSORS",
    "names_loss",
    "names_number",
]

# Functions that draw random numbers, which differ between devices:
# https://docs.pytorch.org/docs/stable/notes/randomness.html
RANDOM_FACTORIES = frozenset("rand randn randint randperm normal bernoulli multinomial rand_like randn_like".split())
RANDOM_METHODS = frozenset(
    "uniform_ normal_ bernoulli_ random_ exponential_ cauchy_ geometric_ log_normal_ bernoulli".split()
)

# Factories of CPU tensors without a `device=` parameter (https://docs.pytorch.org/docs/stable/tensors.html).
CPU_ONLY_FACTORIES = frozenset(
    "from_numpy frombuffer Tensor FloatTensor LongTensor IntTensor ByteTensor BoolTensor DoubleTensor "
    "HalfTensor".split()
)

# Methods that only read their arguments, on any object: loggers, writers, progress bars.
READ_ONLY_METHODS = frozenset(
    "info debug warning warn error critical exception log print write watch add_graph add_scalar add_text summary "
    "set_description set_postfix update_meter update describe format save log_metrics log_params register".split()
)

# Methods of `nn.Module` (https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html).
NN_MODULE_METHODS = frozenset(
    "to cuda cpu half float double type train eval apply parameters named_parameters buffers named_buffers children "
    "named_children modules named_modules state_dict load_state_dict register_buffer zero_grad requires_grad_".split()
)

# The same, plus methods of containers and of library models.
MODULE_METHODS = frozenset(
    "to cuda cpu xpu npu half float double bfloat16 train eval requires_grad_ zero_grad apply parameters "
    "named_parameters children named_children modules named_modules buffers named_buffers state_dict load_state_dict "
    "register_buffer register_parameter add_module register_module register_forward_hook "
    "register_forward_pre_hook register_backward_hook register_full_backward_hook append extend insert get_submodule "
    "share_memory type compile to_empty forward __call__ keys values items pop update reset_classifier reset_head "
    "get_classifier extra_repr reset_parameters set_grad_checkpointing gradient_checkpointing_enable "
    "print_trainable_parameters resize_token_embeddings save_pretrained no_sync".split()
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

# Classes of frameworks that are known by what the framework does with them, also where the project holds their source:
# full name by class name.
FRAMEWORK_CLASSES = {"Brain": "speechbrain.core.Brain", "PaddedBatch": "speechbrain.dataio.batch.PaddedBatch"}

# Methods of library models that run the model, as a call does.
INFERENCE_METHODS = frozenset(
    "generate encode_image encode_text get_image_features get_text_features forward_features forward_head".split()
)

# Attributes by which programs tell tensors from numbers, texts and plain containers: `hasattr(x, "cpu")`
TELL_TENSORS = frozenset({"to", "cuda", "cpu", "device", "detach", "numpy"})

_NUMBER_PREFIXES = ("batch_size", "num_", "number_of_", "is_", "has_", "in_degrees", "out_degrees")


def names_number(name: str) -> bool:
    """Return whether an attribute of this name of a batch or graph is a number or a function: ``num_graphs``."""
    return name.startswith(_NUMBER_PREFIXES)


_LOSS = re.compile(r"(^|_)(criterion|criterions|crit|loss|losses)(_|\d|$)", re.IGNORECASE)


def names_loss(name: str) -> bool:
    """Return whether a variable of this name holds a loss: ``criterion``, ``loss_fn``, ``l1_loss``."""
    return _LOSS.search(name) is not None
