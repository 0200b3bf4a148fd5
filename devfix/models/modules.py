"""Models of the classes of ``torch.nn``: rows of the table in :mod:`devfix.models.index`.

A Python table for now; it becomes stub data.
"""

from __future__ import annotations

from devfix.models.frameworks import DOCS, Row

__all__ = ["MODULES"]

MODULES = (
    # modules without weights: they run on any device
    Row(
        "weightless",
        "torch.nn.",
        "Identity Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Flatten Unflatten ReLU ReLU6 "
        "LeakyReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh LogSigmoid Softplus Softsign Hardtanh Hardsigmoid "
        "Hardswish Hardshrink Softshrink Tanhshrink Threshold GLU Softmax Softmax2d LogSoftmax Softmin "
        "MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d "
        "AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d LPPool1d LPPool2d MaxUnpool1d "
        "MaxUnpool2d MaxUnpool3d FractionalMaxPool2d Upsample UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle "
        "PixelUnshuffle ChannelShuffle Fold Unfold ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d "
        "ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d CosineSimilarity PairwiseDistance",
        DOCS + "nn.html",
    ),
    Row(
        "loss",
        "torch.nn.",
        "L1Loss MSELoss SmoothL1Loss HuberLoss KLDivLoss PoissonNLLLoss GaussianNLLLoss CosineEmbeddingLoss "
        "HingeEmbeddingLoss MarginRankingLoss TripletMarginLoss TripletMarginWithDistanceLoss SoftMarginLoss "
        "MultiLabelMarginLoss MultiMarginLoss CrossEntropyLoss NLLLoss NLLLoss2d BCELoss BCEWithLogitsLoss "
        "MultiLabelSoftMarginLoss",
        DOCS + "nn.html#loss-functions",
    ),
    # CTC loss takes its lengths, and with cuDNN its targets, on the CPU
    Row("keeps-first", "torch.nn.", "CTCLoss.__call__", DOCS + "generated/torch.nn.CTCLoss.html"),
    Row("ctc", "torch.nn.", "CTCLoss", DOCS + "generated/torch.nn.CTCLoss.html"),
    Row("keeps-first", "torch.nn.functional.", "ctc_loss", DOCS + "generated/torch.nn.functional.ctc_loss.html"),
    Row("recurrent", "torch.nn.", "LSTM GRU RNN LSTMCell", DOCS + "nn.html#recurrent-layers"),
    Row("attention", "torch.nn.", "MultiheadAttention", DOCS + "generated/torch.nn.MultiheadAttention.html"),
    Row("sequential", "torch.nn.", "Sequential", DOCS + "generated/torch.nn.Sequential.html"),
    Row("module-list", "torch.nn.", "ModuleList", DOCS + "generated/torch.nn.ModuleList.html"),
    Row("module-dict", "torch.nn.", "ModuleDict", DOCS + "generated/torch.nn.ModuleDict.html"),
    Row(
        "data-parallel",
        "torch.nn.",
        "DataParallel parallel.DataParallel",
        DOCS + "generated/torch.nn.DataParallel.html",
    ),
    Row(
        "data-parallel",
        "torch.nn.parallel.",
        "DistributedDataParallel data_parallel.DataParallel distributed.DistributedDataParallel",
        DOCS + "generated/torch.nn.parallel.DistributedDataParallel.html",
    ),
    Row("same", "torch.", "compile jit.script", DOCS + "generated/torch.compile.html"),
    Row("same", "torch.nn.", "SyncBatchNorm.convert_sync_batchnorm", DOCS + "generated/torch.nn.SyncBatchNorm.html"),
    Row(
        "parametrization",
        "torch.nn.utils.",
        "parametrize.register_parametrization",
        DOCS + "generated/torch.nn.utils.parametrize.register_parametrization.html",
    ),
    Row("same", "torch.nn.utils.", "weight_norm spectral_norm parametrizations.*", DOCS + "nn.html#utilities"),
    Row(
        "parameter",
        "torch.nn.",
        "Parameter parameter.Parameter",
        DOCS + "generated/torch.nn.parameter.Parameter.html",
    ),
    Row(
        "divergence",
        "torch.distributions.",
        "kl_divergence kl.kl_divergence",
        DOCS + "distributions.html#module-torch.distributions.kl",
    ),
    Row("distribution", "torch.distributions.", "*", DOCS + "distributions.html"),
    Row("tensor-same", "torch.autograd.", "Variable", DOCS + "autograd.html#variable-api-deprecated"),
    Row("functional-init", "torch.nn.init.", "*", DOCS + "nn.init.html"),
    Row("clip", "torch.nn.utils.", "clip_grad_norm_ clip_grad_value_ clip_grad_norm", DOCS + "nn.html#utilities"),
    Row(
        "pack",
        "torch.nn.utils.rnn.",
        "pack_padded_sequence",
        DOCS + "generated/torch.nn.utils.rnn.pack_padded_sequence.html",
    ),
    Row(
        "pad-packed",
        "torch.nn.utils.rnn.",
        "pad_packed_sequence",
        DOCS + "generated/torch.nn.utils.rnn.pad_packed_sequence.html",
    ),
    Row(
        "keeps-list",
        "torch.nn.utils.rnn.",
        "pad_sequence pack_sequence",
        DOCS + "generated/torch.nn.utils.rnn.pad_sequence.html",
    ),
)
