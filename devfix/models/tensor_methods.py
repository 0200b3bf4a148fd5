"""Models of tensor and module methods, and sets of functions by last name: device, dimensions, gradient.

Python tables for now; they become stub data.
"""

from __future__ import annotations

__all__ = [
    "CPU_ONLY_FACTORIES",
    "MEAN_LOSSES",
    "MODULE_METHODS",
    "NN_MODULE_METHODS",
    "NON_DIFFERENTIABLE",
    "RANDOM_FACTORIES",
    "RANDOM_METHODS",
    "READ_ONLY_METHODS",
    "REDUCTIONS",
    "TENSOR_METHODS",
    "VALUES_WITH_INDICES",
]


# Losses that return a single number unless `reduction=` is given.
MEAN_LOSSES = frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits kl_div cosine_embedding_loss triplet_margin_loss margin_ranking_loss "
    "soft_margin_loss multilabel_soft_margin_loss gaussian_nll_loss poisson_nll_loss".split()
)
# Operations without a gradient.
NON_DIFFERENTIABLE = frozenset(
    "argmax argmin argsort eq ne lt le gt ge equal greater less logical_and logical_or logical_xor isclose allclose "
    "long int bool nonzero detach sign round".split()
)
# Operations that return values and indices.
VALUES_WITH_INDICES = frozenset("max min sort topk mode median kthvalue cummax cummin".split())

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

# Functions that return a zero-dimensional tensor unless `dim=` is given.
REDUCTIONS = frozenset("sum mean max min prod norm std var median all any argmax argmin nanmean nansum".split())

# Models of tensor methods; any other method returns a tensor on the receiver's device.
TENSOR_METHODS: dict[str, str] = {
    **dict.fromkeys(
        "mm bmm matmul addmm dot mv baddbmm index_select gather scatter scatter_ scatter_add scatter_add_ "
        "index_add index_add_ index_copy_ masked_fill masked_fill_ masked_select masked_scatter masked_scatter_ "
        "cross bincount index_fill_ index_fill logaddexp".split(),
        "mixes",
    ),
    **dict.fromkeys(
        "add add_ sub sub_ mul mul_ div div_ pow eq ne lt le gt ge equal maximum minimum fmod remainder atan2 "
        "logical_and logical_or bitwise_and bitwise_or where lerp lerp_ addcmul addcmul_ addcdiv addcdiv_ "
        "__and__ __or__ allclose isclose".split(),
        "pointwise",
    ),
    **dict.fromkeys("item tolist".split(), "number"),
    **dict.fromkeys("size dim ndimension numel nelement element_size stride __len__ get_device".split(), "number"),
    **dict.fromkeys("numpy __array__".split(), "needs-cpu"),
    **dict.fromkeys(
        "max min sort topk mode median kthvalue cummax cummin unique split chunk unbind aminmax".split(), "several"
    ),
    **dict.fromkeys(
        "view_as expand_as reshape_as copy_ detach clone contiguous view reshape flatten squeeze unsqueeze permute "
        "transpose t float half double long int bool bfloat16 sum mean requires_grad_".split(),
        "keeps",
    ),
}

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
