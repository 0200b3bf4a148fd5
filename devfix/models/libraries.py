"""Models of other libraries and of the standard library: rows of the table in :mod:`devfix.models.index`.

A Python table for now; it becomes stub data.
"""

from __future__ import annotations

from devfix.models.frameworks import DOCS, Row

__all__ = ["LIBRARIES"]

_PLOT_FUNCTIONS = (
    "plot imshow scatter hist hist2d bar barh fill_between errorbar matshow contour contourf pcolormesh semilogx "
    "semilogy loglog step stem boxplot violinplot stackplot quiver"
)

LIBRARIES = (
    # functions that create a model
    Row("opaque-module", "torchvision.models.", "*", "https://docs.pytorch.org/vision/stable/models.html"),
    Row(
        "opaque-module",
        "timm.",
        "create_model models.create_model models.factory.create_model",
        "https://huggingface.co/docs/timm",
    ),
    Row("opaque-module", "torch.hub.", "load", DOCS + "hub.html"),
    Row("opaque-module", "segmentation_models_pytorch.", "*", "https://smp.readthedocs.io/"),
    Row(
        "opaque-module",
        "efficientnet_pytorch.",
        "EfficientNet.from_pretrained EfficientNet.from_name",
        "https://github.com/lukemelas/EfficientNet-PyTorch",
    ),
    # wrappers that yield the elements of their argument
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
        "named-tuple",
        "",
        "collections.namedtuple typing.NamedTuple",
        "https://docs.python.org/3/library/collections.html",
    ),
    Row(
        "draws-items", "", "random.choice random.choices random.sample", "https://docs.python.org/3/library/random.html"
    ),
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
    # functions that call their argument
    Row(
        "calls",
        "",
        "fire.Fire typer.run absl.app.run torch.multiprocessing.spawn torch.multiprocessing.start_processes "
        "torch.multiprocessing.Process multiprocessing.Process threading.Thread",
        "https://docs.pytorch.org/docs/stable/multiprocessing.html",
    ),
    # functions that need CPU data
    # (shapes, seeds and Python floats are read as numbers, which a tensor on any device can provide)
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
    Row("draws", "matplotlib.pyplot.", _PLOT_FUNCTIONS, "https://matplotlib.org/stable/"),
    Row("draws", "matplotlib.axes.Axes.", _PLOT_FUNCTIONS, "https://matplotlib.org/stable/"),
    Row("harmless", "matplotlib.", "*", "https://matplotlib.org/stable/"),
    Row("default-generator", "torch.", "manual_seed", DOCS + "generated/torch.manual_seed.html"),
    # functions that read their arguments and move nothing
    Row(
        "harmless",
        "",
        "torchinfo.* torchsummary.* wandb.* logging.* json.* time.* random.* os.* sys.* math.* pathlib.* glob.* "
        "mlflow.* tensorboardX.* torch.utils.tensorboard.* thop.* ptflops.* fvcore.* torch.cuda.* "
        "torch.backends.* torch.set_grad_enabled torch.no_grad torch.enable_grad torch.inference_mode torch.autograd.* "
        "torch.set_num_threads torch.set_float32_matmul_precision torch.random.* torch.distributed.* torch.profiler.* "
        "torch.onnx.* torch.jit.trace datetime.* collections.* warnings.* shutil.* csv.* pickle.* yaml.* re.* "
        "loguru.* termcolor.* pprint.* torchviz.* torch.nn.utils.parameters_to_vector contextlib.*",
        DOCS,
    ),
    Row("keeps-first", "torch.", "*", DOCS + "torch.html"),
)
