"""Models of PyTorch's functions: rows of the table in :mod:`devfix.models.index`.

A Python table for now; it becomes stub data.
"""

from __future__ import annotations

from devfix.models.frameworks import DOCS, Row

__all__ = ["TENSORS"]

TENSORS = (
    # functions of several tensors, which must be on one device
    Row(
        "mixes",
        "torch.nn.functional.",
        "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
        "binary_cross_entropy_with_logits kl_div cosine_embedding_loss triplet_margin_loss margin_ranking_loss "
        "soft_margin_loss multilabel_soft_margin_loss gaussian_nll_loss poisson_nll_loss linear bilinear conv1d conv2d "
        "conv3d conv_transpose1d conv_transpose2d embedding embedding_bag cosine_similarity pairwise_distance "
        "scaled_dot_product_attention grid_sample batch_norm layer_norm group_norm prelu",
        DOCS + "nn.functional.html",
    ),
    Row("keeps-first", "torch.nn.functional.", "*", DOCS + "nn.functional.html"),
    Row("harmless", "torch.nn.utils.", "*", DOCS + "nn.html#utilities"),
    Row("module", "torch.nn.", "*", DOCS + "nn.html"),
    Row(
        "mixes",
        "torch.",
        "cat concat concatenate stack hstack vstack dstack mm bmm matmul addmm baddbmm mv dot einsum cdist cross "
        "index_select gather scatter masked_select logaddexp outer tensordot kron",
        "https://docs.pytorch.org/docs/stable/notes/cuda.html",
    ),
    Row(
        "pointwise",
        "torch.",
        "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow atan2 hypot maximum "
        "minimum fmax fmin eq ne lt le gt ge less greater logical_and logical_or logical_xor bitwise_and bitwise_or "
        "where lerp equal isclose allclose",
        "https://docs.pytorch.org/docs/stable/notes/cuda.html",
    ),
    # factories: on the CPU unless `device=` is given
    Row(
        "factory",
        "torch.",
        "zeros ones full empty arange linspace logspace eye rand randn randint randperm range tril_indices "
        "triu_indices scalar_tensor FloatTensor LongTensor IntTensor ByteTensor BoolTensor DoubleTensor HalfTensor "
        "Tensor hann_window hamming_window",
        DOCS + "torch.html#creation-ops",
    ),
    Row("from-data", "torch.", "tensor as_tensor asarray", DOCS + "generated/torch.tensor.html"),
    Row("from-cpu", "torch.", "from_numpy frombuffer", DOCS + "generated/torch.from_numpy.html"),
    Row("generator", "torch.", "Generator", DOCS + "generated/torch.Generator.html"),
    Row(
        "sampler",
        "torch.utils.data.",
        "RandomSampler SubsetRandomSampler WeightedRandomSampler sampler.RandomSampler sampler.SubsetRandomSampler "
        "sampler.WeightedRandomSampler",
        DOCS + "data.html#torch.utils.data.RandomSampler",
    ),
    Row("meshgrid", "torch.", "meshgrid", DOCS + "generated/torch.meshgrid.html"),
    Row("gradients", "torch.", "autograd.grad", DOCS + "generated/torch.autograd.grad.html"),
    Row("normal", "torch.", "normal bernoulli multinomial", DOCS + "generated/torch.normal.html"),
    Row(
        "like",
        "torch.",
        "zeros_like ones_like full_like empty_like rand_like randn_like randint_like",
        DOCS + "torch.html#creation-ops",
    ),
    Row(
        "accelerator-factory",
        "torch.cuda.",
        "FloatTensor LongTensor IntTensor ByteTensor BoolTensor DoubleTensor HalfTensor",
        DOCS + "tensors.html",
    ),
    # devices
    Row("device", "torch.", "device", DOCS + "tensor_attributes.html#torch.device"),
    Row(
        "accelerator-device",
        "torch.",
        "accelerator.current_accelerator cuda.current_device accelerator.current_device_index "
        "accelerator.current_device_idx",
        DOCS + "accelerator.html",
    ),
    Row(
        "available",
        "torch.",
        "cuda.is_available backends.mps.is_available xpu.is_available accelerator.is_available backends.mps.is_built "
        "mps.is_available npu.is_available hpu.is_available backends.cuda.is_built",
        DOCS + "generated/torch.cuda.is_available.html",
    ),
    # NCCL supports CUDA tensors only: "No backend type associated with device type cpu"
    Row("process-group", "torch.distributed.", "init_process_group", DOCS + "distributed.html#initialization"),
    Row(
        "set-device",
        "torch.",
        "cuda.set_device accelerator.set_device_index accelerator.set_device_idx",
        DOCS + "generated/torch.cuda.set_device.html",
    ),
    Row("initialized", "torch.distributed.", "is_initialized", DOCS + "distributed.html#post-initialization"),
    Row(
        "collective",
        "torch.distributed.",
        "all_reduce reduce broadcast all_gather all_gather_into_tensor gather scatter reduce_scatter "
        "reduce_scatter_tensor all_to_all all_to_all_single send recv isend irecv",
        DOCS + "distributed.html#backends",
    ),
    Row("no", "torch.distributed.", "is_torchelastic_launched", DOCS + "distributed.html"),
    Row("number", "torch.distributed.", "get_rank get_world_size", DOCS + "distributed.html"),
    Row(
        "number",
        "torch.",
        "cuda.device_count accelerator.device_count initial_seed seed numel",
        DOCS + "generated/torch.cuda.device_count.html",
    ),
    Row("default-device", "torch.", "set_default_device", DOCS + "generated/torch.set_default_device.html"),
    Row("default-type", "torch.", "set_default_tensor_type", DOCS + "generated/torch.set_default_tensor_type.html"),
)
