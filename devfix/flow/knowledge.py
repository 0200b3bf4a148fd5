"""What PyTorch and its neighbours do with places, as a table.

Each row names callables by their full names (``*`` at the end matches any continuation), the behaviour that the
interpreter gives them (:mod:`devfix.flow.library` holds one function per behaviour), and the page that says so.
"""

from __future__ import annotations

from functools import lru_cache

from devfix.flow.knowledge_of_frameworks import FRAMEWORKS, Row

__all__ = ["TABLE", "behaviour"]

_DOCS = "https://docs.pytorch.org/docs/stable/"
_DRAWING = (
    "plot imshow scatter hist hist2d bar barh fill_between errorbar matshow contour contourf pcolormesh semilogx "
    "semilogy loglog step stem boxplot violinplot stackplot quiver"
)

TABLE = (
    *FRAMEWORKS,
    # modules without weights: their place does not matter
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
        _DOCS + "nn.html",
    ),
    Row(
        "loss",
        "torch.nn.",
        "L1Loss MSELoss SmoothL1Loss HuberLoss KLDivLoss PoissonNLLLoss GaussianNLLLoss CosineEmbeddingLoss "
        "HingeEmbeddingLoss MarginRankingLoss TripletMarginLoss TripletMarginWithDistanceLoss SoftMarginLoss "
        "MultiLabelMarginLoss MultiMarginLoss CrossEntropyLoss NLLLoss NLLLoss2d BCELoss BCEWithLogitsLoss "
        "MultiLabelSoftMarginLoss",
        _DOCS + "nn.html#loss-functions",
    ),
    # CTC takes its lengths, and with cuDNN its targets, on the CPU
    Row("keeps-first", "torch.nn.", "CTCLoss.__call__", _DOCS + "generated/torch.nn.CTCLoss.html"),
    Row("ctc", "torch.nn.", "CTCLoss", _DOCS + "generated/torch.nn.CTCLoss.html"),
    Row("keeps-first", "torch.nn.functional.", "ctc_loss", _DOCS + "generated/torch.nn.functional.ctc_loss.html"),
    Row("recurrent", "torch.nn.", "LSTM GRU RNN LSTMCell", _DOCS + "nn.html#recurrent-layers"),
    Row("attention", "torch.nn.", "MultiheadAttention", _DOCS + "generated/torch.nn.MultiheadAttention.html"),
    Row("sequential", "torch.nn.", "Sequential", _DOCS + "generated/torch.nn.Sequential.html"),
    Row("module-list", "torch.nn.", "ModuleList", _DOCS + "generated/torch.nn.ModuleList.html"),
    Row("module-dict", "torch.nn.", "ModuleDict", _DOCS + "generated/torch.nn.ModuleDict.html"),
    Row(
        "data-parallel",
        "torch.nn.",
        "DataParallel parallel.DataParallel",
        _DOCS + "generated/torch.nn.DataParallel.html",
    ),
    Row(
        "data-parallel",
        "torch.nn.parallel.",
        "DistributedDataParallel data_parallel.DataParallel distributed.DistributedDataParallel",
        _DOCS + "generated/torch.nn.parallel.DistributedDataParallel.html",
    ),
    Row("same", "torch.", "compile jit.script", _DOCS + "generated/torch.compile.html"),
    Row("same", "torch.nn.", "SyncBatchNorm.convert_sync_batchnorm", _DOCS + "generated/torch.nn.SyncBatchNorm.html"),
    Row(
        "parametrization",
        "torch.nn.utils.",
        "parametrize.register_parametrization",
        _DOCS + "generated/torch.nn.utils.parametrize.register_parametrization.html",
    ),
    Row("same", "torch.nn.utils.", "weight_norm spectral_norm parametrizations.*", _DOCS + "nn.html#utilities"),
    Row(
        "parameter",
        "torch.nn.",
        "Parameter parameter.Parameter",
        _DOCS + "generated/torch.nn.parameter.Parameter.html",
    ),
    Row(
        "divergence",
        "torch.distributions.",
        "kl_divergence kl.kl_divergence",
        _DOCS + "distributions.html#module-torch.distributions.kl",
    ),
    Row("distribution", "torch.distributions.", "*", _DOCS + "distributions.html"),
    Row("tensor-same", "torch.autograd.", "Variable", _DOCS + "autograd.html#variable-api-deprecated"),
    Row("functional-init", "torch.nn.init.", "*", _DOCS + "nn.init.html"),
    Row("clip", "torch.nn.utils.", "clip_grad_norm_ clip_grad_value_ clip_grad_norm", _DOCS + "nn.html#utilities"),
    Row(
        "pack",
        "torch.nn.utils.rnn.",
        "pack_padded_sequence",
        _DOCS + "generated/torch.nn.utils.rnn.pack_padded_sequence.html",
    ),
    Row(
        "pad-packed",
        "torch.nn.utils.rnn.",
        "pad_packed_sequence",
        _DOCS + "generated/torch.nn.utils.rnn.pad_packed_sequence.html",
    ),
    Row(
        "keeps-list",
        "torch.nn.utils.rnn.",
        "pad_sequence pack_sequence",
        _DOCS + "generated/torch.nn.utils.rnn.pad_sequence.html",
    ),
    # functions of several tensors: all must live together
    Row(
        "mixes",
        "torch.nn.functional.",
        "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
        "binary_cross_entropy_with_logits kl_div cosine_embedding_loss triplet_margin_loss margin_ranking_loss "
        "soft_margin_loss multilabel_soft_margin_loss gaussian_nll_loss poisson_nll_loss linear bilinear conv1d conv2d "
        "conv3d conv_transpose1d conv_transpose2d embedding embedding_bag cosine_similarity pairwise_distance "
        "scaled_dot_product_attention grid_sample batch_norm layer_norm group_norm prelu",
        _DOCS + "nn.functional.html",
    ),
    Row("keeps-first", "torch.nn.functional.", "*", _DOCS + "nn.functional.html"),
    Row("harmless", "torch.nn.utils.", "*", _DOCS + "nn.html#utilities"),
    Row("module", "torch.nn.", "*", _DOCS + "nn.html"),
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
    # tensors made from nothing: on the CPU unless device= says otherwise
    Row(
        "factory",
        "torch.",
        "zeros ones full empty arange linspace logspace eye rand randn randint randperm range tril_indices "
        "triu_indices scalar_tensor FloatTensor LongTensor IntTensor ByteTensor BoolTensor DoubleTensor HalfTensor "
        "Tensor hann_window hamming_window",
        _DOCS + "torch.html#creation-ops",
    ),
    Row("from-data", "torch.", "tensor as_tensor asarray", _DOCS + "generated/torch.tensor.html"),
    Row("from-cpu", "torch.", "from_numpy frombuffer", _DOCS + "generated/torch.from_numpy.html"),
    Row("generator", "torch.", "Generator", _DOCS + "generated/torch.Generator.html"),
    Row(
        "sampler",
        "torch.utils.data.",
        "RandomSampler SubsetRandomSampler WeightedRandomSampler sampler.RandomSampler sampler.SubsetRandomSampler "
        "sampler.WeightedRandomSampler",
        _DOCS + "data.html#torch.utils.data.RandomSampler",
    ),
    Row("meshgrid", "torch.", "meshgrid", _DOCS + "generated/torch.meshgrid.html"),
    Row("gradients", "torch.", "autograd.grad", _DOCS + "generated/torch.autograd.grad.html"),
    Row("normal", "torch.", "normal bernoulli multinomial", _DOCS + "generated/torch.normal.html"),
    Row(
        "like",
        "torch.",
        "zeros_like ones_like full_like empty_like rand_like randn_like randint_like",
        _DOCS + "torch.html#creation-ops",
    ),
    Row(
        "accelerator-factory",
        "torch.cuda.",
        "FloatTensor LongTensor IntTensor ByteTensor BoolTensor DoubleTensor HalfTensor",
        _DOCS + "tensors.html",
    ),
    # devices
    Row("device", "torch.", "device", _DOCS + "tensor_attributes.html#torch.device"),
    Row(
        "accelerator-device",
        "torch.",
        "accelerator.current_accelerator cuda.current_device accelerator.current_device_index "
        "accelerator.current_device_idx",
        _DOCS + "accelerator.html",
    ),
    Row(
        "available",
        "torch.",
        "cuda.is_available backends.mps.is_available xpu.is_available accelerator.is_available backends.mps.is_built "
        "mps.is_available npu.is_available hpu.is_available backends.cuda.is_built",
        _DOCS + "generated/torch.cuda.is_available.html",
    ),
    # NCCL reads the accelerator's memory only: "No backend type associated with device type cpu"
    Row("process-group", "torch.distributed.", "init_process_group", _DOCS + "distributed.html#initialization"),
    Row(
        "set-device",
        "torch.",
        "cuda.set_device accelerator.set_device_index accelerator.set_device_idx",
        _DOCS + "generated/torch.cuda.set_device.html",
    ),
    Row("initialized", "torch.distributed.", "is_initialized", _DOCS + "distributed.html#post-initialization"),
    Row(
        "collective",
        "torch.distributed.",
        "all_reduce reduce broadcast all_gather all_gather_into_tensor gather scatter reduce_scatter "
        "reduce_scatter_tensor all_to_all all_to_all_single send recv isend irecv",
        _DOCS + "distributed.html#backends",
    ),
    Row("no", "torch.distributed.", "is_torchelastic_launched", _DOCS + "distributed.html"),
    Row("number", "torch.distributed.", "get_rank get_world_size", _DOCS + "distributed.html"),
    Row(
        "number",
        "torch.",
        "cuda.device_count accelerator.device_count initial_seed seed numel",
        _DOCS + "generated/torch.cuda.device_count.html",
    ),
    Row("default-device", "torch.", "set_default_device", _DOCS + "generated/torch.set_default_device.html"),
    Row("default-type", "torch.", "set_default_tensor_type", _DOCS + "generated/torch.set_default_tensor_type.html"),
    # checkpoints
    Row("load", "torch.", "load", _DOCS + "generated/torch.load.html"),
    Row("open-file", "safetensors.", "safe_open torch.safe_open", "https://huggingface.co/docs/safetensors/api/torch"),
    Row("load-file", "safetensors.torch.", "load_file", "https://huggingface.co/docs/safetensors/api/torch"),
    Row("save", "torch.", "save", _DOCS + "generated/torch.save.html"),
    Row(
        "needs-cpu-state",
        "torch.",
        "set_rng_state random.set_rng_state cuda.set_rng_state cuda.set_rng_state_all",
        _DOCS + "random.html",
    ),
    # tests on values
    Row("is-tensor", "torch.", "is_tensor", _DOCS + "generated/torch.is_tensor.html"),
    # data
    Row("loader", "torch.utils.data.", "DataLoader dataloader.DataLoader", _DOCS + "data.html"),
    Row("tensor-dataset", "torch.utils.data.", "TensorDataset dataset.TensorDataset", _DOCS + "data.html"),
    Row("same-dataset", "torch.utils.data.", "Subset dataset.Subset ConcatDataset", _DOCS + "data.html"),
    Row("split-dataset", "torch.utils.data.", "random_split dataset.random_split", _DOCS + "data.html"),
    Row(
        "default-collate",
        "torch.utils.data.",
        "default_collate dataloader.default_collate _utils.collate.default_collate",
        _DOCS + "data.html",
    ),
    Row(
        "image-dataset",
        "torchvision.datasets.",
        "MNIST FashionMNIST KMNIST QMNIST EMNIST CIFAR10 CIFAR100 SVHN STL10 ImageFolder ImageNet DatasetFolder "
        "FakeData Flowers102 Food101 OxfordIIITPet StanfordCars GTSRB Caltech101 Caltech256 DTD FGVCAircraft EuroSAT",
        "https://docs.pytorch.org/vision/stable/datasets.html",
    ),
    # optimizers: "eager" ones build their state in the constructor
    Row("optimizer-eager", "torch.optim.", "Adagrad adagrad.Adagrad", _DOCS + "generated/torch.optim.Adagrad.html"),
    Row("scheduler", "torch.optim.lr_scheduler.", "*", _DOCS + "optim.html#how-to-adjust-learning-rate"),
    Row("averaged", "torch.optim.swa_utils.", "AveragedModel", _DOCS + "optim.html#weight-averaging-swa-and-ema"),
    Row(
        "scheduler",
        "transformers.",
        "get_scheduler get_linear_schedule_with_warmup get_cosine_schedule_with_warmup",
        "https://huggingface.co/docs/transformers/main_classes/optimizer_schedules",
    ),
    Row("optimizer", "torch.optim.", "*", _DOCS + "optim.html"),
    Row(
        "optimizer",
        "transformers.",
        "AdamW Adafactor optimization.AdamW",
        "https://huggingface.co/docs/transformers/main_classes/optimizer_schedules",
    ),
    Row("scaler", "torch.", "cuda.amp.GradScaler amp.GradScaler cuda.amp.grad_scaler.GradScaler", _DOCS + "amp.html"),
    # models of other libraries
    Row("opaque-module", "torchvision.models.", "*", "https://docs.pytorch.org/vision/stable/models.html"),
    Row(
        "opaque-module",
        "timm.",
        "create_model models.create_model models.factory.create_model",
        "https://huggingface.co/docs/timm",
    ),
    Row("opaque-module", "torch.hub.", "load", _DOCS + "hub.html"),
    Row("opaque-module", "segmentation_models_pytorch.", "*", "https://smp.readthedocs.io/"),
    Row(
        "opaque-module",
        "efficientnet_pytorch.",
        "EfficientNet.from_pretrained EfficientNet.from_name",
        "https://github.com/lukemelas/EfficientNet-PyTorch",
    ),
    # wrappers that yield what they are given
    Row(
        "passes",
        "",
        "tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.std.tqdm tqdm.tqdm_notebook tqdm.autonotebook.tqdm "
        "alive_progress.alive_it rich.progress.track fastprogress.progress_bar "
        "fastprogress.fastprogress.progress_bar itertools.islice itertools.cycle tqdm.rich.tqdm "
        "tqdm.asyncio.tqdm",
        "https://tqdm.github.io/",
    ),
    Row(
        "chain",
        "",
        "itertools.chain itertools.chain.from_iterable",
        "https://docs.python.org/3/library/itertools.html",
    ),
    Row("zip-longest", "", "itertools.zip_longest", "https://docs.python.org/3/library/itertools.html"),
    Row("partial", "", "functools.partial types.MethodType", "https://docs.python.org/3/library/functools.html"),
    Row(
        "decorator",
        "",
        "functools.wraps functools.lru_cache functools.cache",
        "https://docs.python.org/3/library/functools.html",
    ),
    Row("deep-copy", "", "copy.deepcopy copy.copy", "https://docs.python.org/3/library/copy.html"),
    Row("ordered-dict", "", "collections.OrderedDict", "https://docs.python.org/3/library/collections.html"),
    Row("default-dict", "", "collections.defaultdict", "https://docs.python.org/3/library/collections.html"),
    Row("sequence", "", "collections.deque", "https://docs.python.org/3/library/collections.html"),
    Row(
        "namespace",
        "",
        "types.SimpleNamespace argparse.Namespace easydict.EasyDict addict.Dict munch.Munch ml_collections.ConfigDict",
        "https://docs.python.org/3/library/types.html#types.SimpleNamespace",
    ),
    Row(
        "parser",
        "",
        "argparse.ArgumentParser configargparse.ArgumentParser",
        "https://docs.python.org/3/library/argparse.html",
    ),
    Row(
        "joins-paths",
        "",
        "os.path.join os.path.abspath os.path.expanduser pathlib.Path",
        "https://docs.python.org/3/library/os.path.html",
    ),
    Row("exits", "", "sys.exit os._exit os.abort", "https://docs.python.org/3/library/sys.html#sys.exit"),
    # functions that call what they are given
    Row(
        "calls",
        "",
        "fire.Fire typer.run absl.app.run torch.multiprocessing.spawn torch.multiprocessing.start_processes "
        "torch.multiprocessing.Process multiprocessing.Process threading.Thread",
        "https://docs.pytorch.org/docs/stable/multiprocessing.html",
    ),
    # what needs CPU data
    # (shapes, seeds and Python's own float are asked for as numbers, which a tensor on any device gives)
    Row(
        "harmless",
        "numpy.",
        "ones zeros empty full eye identity isscalar shape ndim size float64 double random.seed random.rand "
        "random.randn random.randint random.RandomState random.default_rng set_printoptions seterr errstate",
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html",
    ),
    Row(
        "reduces",
        "numpy.",
        "sum mean max min amax amin prod std var any all",
        "https://numpy.org/doc/stable/reference/generated/numpy.mean.html",
    ),
    Row("needs-cpu", "numpy.", "*", "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html"),
    Row("needs-cpu", "sklearn.", "*", "https://scikit-learn.org/stable/"),
    Row("needs-cpu", "scipy.", "*", "https://docs.scipy.org/doc/scipy/"),
    Row("needs-cpu", "seaborn.", "*", "https://seaborn.pydata.org/"),
    Row("axes", "matplotlib.pyplot.", "subplots gca axes subplot", "https://matplotlib.org/stable/"),
    Row("draws", "matplotlib.pyplot.", _DRAWING, "https://matplotlib.org/stable/"),
    Row("draws", "matplotlib.axes.Axes.", _DRAWING, "https://matplotlib.org/stable/"),
    Row("harmless", "matplotlib.", "*", "https://matplotlib.org/stable/"),
    Row("default-generator", "torch.", "manual_seed", _DOCS + "generated/torch.manual_seed.html"),
    # what looks at a module and leaves it where it is
    Row(
        "harmless",
        "",
        "torchinfo.* torchsummary.* wandb.* logging.* json.* time.* random.* os.* sys.* math.* pathlib.* glob.* "
        "mlflow.* tensorboardX.* torch.utils.tensorboard.* thop.* ptflops.* fvcore.* torch.cuda.* "
        "torch.backends.* torch.set_grad_enabled torch.no_grad torch.enable_grad torch.inference_mode torch.autograd.* "
        "torch.set_num_threads torch.set_float32_matmul_precision torch.random.* torch.distributed.* torch.profiler.* "
        "torch.onnx.* torch.jit.trace datetime.* collections.* warnings.* shutil.* csv.* pickle.* yaml.* re.* "
        "loguru.* termcolor.* pprint.* torchviz.* torch.nn.utils.parameters_to_vector contextlib.*",
        _DOCS,
    ),
    Row("keeps-first", "torch.", "*", _DOCS + "torch.html"),
)


@lru_cache(maxsize=4096)
def behaviour(name: str) -> str:
    """How the callable with this full name behaves; ``""`` where the table says nothing."""
    for row in TABLE:
        if not name.startswith(row.prefix):
            continue
        rest = name[len(row.prefix) :]
        for candidate in row.names.split():
            if candidate == rest or (candidate.endswith("*") and rest.startswith(candidate[:-1])):
                return row.behaviour
    return ""
