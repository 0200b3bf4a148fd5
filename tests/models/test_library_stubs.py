"""Stubs of libraries: for each library broken programs, and correct ones that look alike."""

from __future__ import annotations

import pytest

from devfix import analysis
from devfix.models.index import root_of

SETUP = """\
import torch
from torch import nn
here = torch.ones(3, 3)
there = torch.ones(3, 3, device="cuda")
labels = torch.zeros(3, dtype=torch.long)
times = torch.tensor([1])
model = nn.Linear(3, 3).cuda()
"""

# library: what is imported, broken calls, correct calls
LIBRARIES = {
    "apex": (
        "from apex import amp, normalization, optimizers",
        ["normalization.FusedLayerNorm(3)(there)", "amp.initialize(model, opt_level='O1')(here)"],
        ["normalization.FusedLayerNorm(3).cuda()(there)", "amp.initialize(model, opt_level='O1')(there)"],
    ),
    "clip": ("import clip", ["there + clip.tokenize(['a'])"], ["there + clip.tokenize(['a']).to('cuda')"]),
    "dgl": (
        "import dgl\nfrom dgl.nn import GATConv, GINConv, GraphConv\ng = dgl.data.CoraGraphDataset()[0]",
        [
            "GraphConv(3, 3).cuda()(g, there)",
            "GATConv(3, 3)(g.to('cuda'), there)",
            "GraphConv(3, 3).cuda()(dgl.remove_self_loop(g).int(), there)",
            "dgl.sampling.select_topk(g.to('cuda'), 3, 'y')",
        ],
        [
            "GraphConv(3, 3).cuda()(g.to('cuda'), there)",
            "GINConv(model)(g.to('cuda'), there)",
            "GraphConv(3, 3).cuda()(dgl.remove_self_loop(g.int().to('cuda')), there)",
            "dgl.sampling.select_topk(g, 3, 'y')",
        ],
    ),
    "diffusers": (
        "from diffusers import DDIMScheduler, DDPMScheduler\ns = DDPMScheduler(10)",
        [
            "s.add_noise(there, here, times)",
            "DDIMScheduler.from_pretrained('a').step(here, 1, there)",
            "s.add_noise(there, there, times) + here",
            "s.alphas_cumprod[times.cuda()]",
            "s.alphas_cumprod + s.get_velocity(there, there, times)",
            "there + DDIMScheduler.from_pretrained('a').alphas_cumprod",
            "s.add_noise(there, there, times), torch.index_select(s.alphas_cumprod, 0, times)",
        ],
        [
            "s.add_noise(there, there, times)",
            "s.set_timesteps(5, device='cuda')",
            "s.step(there, 1, there)",
            "s.alphas_cumprod[times]",
            "s.alphas_cumprod.to('cuda')[times.cuda()]",
            "s.add_noise(there, there, times), torch.index_select(s.alphas_cumprod, 0, times.cuda())",
            "setattr(s, 'alphas_cumprod', s.alphas_cumprod.cuda()), there + s.alphas_cumprod",
        ],
    ),
    "einops": (
        "from einops import einsum, pack, rearrange, reduce, repeat\nfrom einops.layers.torch import Rearrange",
        [
            "rearrange(here, 'a b -> b a') + there",
            "rearrange([here, there], 'n a b -> a b n')",
            "einsum(here, there, 'a b, b c -> a c')",
            "pack([here, there], '* d')",
            "repeat(there, 'a b -> n a b', n=2) @ here",
        ],
        [
            "rearrange(there, 'a b -> b a') + there",
            "reduce(there, 'a b -> a', 'mean') + there",
            "Rearrange('a b -> b a')(there) + there",
        ],
    ),
    "flash_attn": (
        "from flash_attn import flash_attn_func, flash_attn_varlen_func",
        ["flash_attn_func(there, there, here)", "flash_attn_varlen_func(there, there, there, labels, labels, 3, 3)"],
        ["flash_attn_func(there, there, there, causal=True) + there"],
    ),
    "kornia": (
        "import kornia\nimport kornia.geometry.transform as T",
        [
            "T.warp_perspective(there, here, (8, 8))",
            "kornia.losses.ssim_loss(there, here, 3)",
            "kornia.losses.DiceLoss()(there, labels)",
            "kornia.utils.create_meshgrid(3, 3) + there",
            "kornia.morphology.dilation(there, here)",
            "kornia.color.rgb_to_hsv(here) + there",
        ],
        [
            "T.warp_affine(there, there, (8, 8))",
            "kornia.enhance.normalize(there, here, here)",
            "kornia.filters.filter2d(there, here) + there",
            "nn.Sequential(kornia.augmentation.CenterCrop(3))(there) + there",
            "kornia.utils.create_meshgrid(3, 3, device='cuda') + there",
        ],
    ),
    "lpips": (
        "import lpips",
        ["lpips.LPIPS(net='vgg')(there, there)"],
        ["lpips.LPIPS(net='vgg').cuda()(there, there)"],
    ),
    "monai": (
        "from monai.losses import DiceLoss\nfrom monai.networks import one_hot\nfrom monai.networks.nets import UNet",
        ["DiceLoss(softmax=True)(there, here)", "UNet(2, 1, 2, (4,), ())(there)", "one_hot(here, 3) + there"],
        ["DiceLoss(softmax=True)(there, there)", "UNet(2, 1, 2, (4,), ()).to('cuda')(there)"],
    ),
    "numpy": (
        "import numpy as np",
        ["np.sin(there)", "np.asarray(there)", "np.stack([there])", "np.squeeze([there])", "np.linalg.norm(there)"],
        ["np.zeros(there.shape)", "np.squeeze(there)", "np.split(there, 3)", "np.shape(there)", "np.sin(here)"],
    ),
    "open_clip": (
        "import open_clip",
        [
            "open_clip.create_model('a')(there)",
            "net, _, preprocess = open_clip.create_model_and_transforms('a', pretrained='b'); net(there)",
            "open_clip.tokenize(['a']) + there",
        ],
        [
            "open_clip.create_model('a', device='cuda')(there)",
            "net, _, preprocess = open_clip.create_model_and_transforms('a', device='cuda'); net(there)",
            "net, _, preprocess = open_clip.create_model_and_transforms('a', **options); net(there)",
        ],
    ),
    "peft": (
        "from peft import PeftModel, get_peft_model",
        ["get_peft_model(model, None)(here)", "PeftModel.from_pretrained(nn.Linear(3, 3), 'a')(there)"],
        ["get_peft_model(model, None)(there)", "PeftModel.from_pretrained(nn.Linear(3, 3), 'a').cuda()(there)"],
    ),
    "pytorch3d": (
        "from pytorch3d.loss import chamfer_distance\nfrom pytorch3d.ops import knn_points",
        ["chamfer_distance(there, here)", "knn_points(there, here, K=2)"],
        ["chamfer_distance(there, there)", "knn_points(there, there, lengths1=labels, K=2)"],
    ),
    "pytorch_msssim": (
        "from pytorch_msssim import SSIM, ssim",
        ["ssim(there, here)", "SSIM(data_range=1)(there, here)"],
        ["ssim(there, there, size_average=False)", "ssim(here, here) + there", "SSIM(data_range=1)(there, there)"],
    ),
    "lightly": (
        "from lightly.loss.memory_bank import MemoryBankModule\nfrom lightly.models.modules import NNMemoryBankModule",
        ["NNMemoryBankModule(size=(9, 3))(here) + there"],
        ["NNMemoryBankModule(size=(9, 3))(there) + there", "MemoryBankModule(size=9)(there, update=True)"],
    ),
    "pytorch_metric_learning": (
        "from pytorch_metric_learning import losses, miners",
        [
            "losses.SelfSupervisedLoss(losses.NTXentLoss())(there, here)",
            "losses.NTXentLoss()(there, labels, ref_emb=here)",
        ],
        [
            "losses.NTXentLoss()(there, here) + there",
            "losses.ArcFaceLoss(10, 3)(there, here, miners.BatchHardMiner()(there, here))",
            "losses.SelfSupervisedLoss(losses.NTXentLoss())(there, there)",
        ],
    ),
    "searches": (
        (
            "import hyperopt, optuna, skopt, wandb\nfrom bayes_opt import BayesianOptimization\nfrom ray import tune\n"
            "from scipy.optimize import minimize, root\nfrom optuna.study import create_study"
        ),
        [
            "optuna.create_study().optimize(lambda trial: here + there, n_trials=3)",
            "create_study(direction='maximize').optimize(func=lambda trial: here + there)",
            "hyperopt.fmin(fn=lambda options: here + there, space=[])",
            "skopt.gp_minimize(lambda options: here + there, [])",
            "wandb.agent('a', function=lambda: here + there)",
            "tune.run(lambda config: here + there, num_samples=3)",
            "BayesianOptimization(f=lambda rate: here + there, pbounds={}).maximize()",
            "minimize(lambda x: here + there, [0.0])",
            "root(lambda x: here + there, [0.0])",
        ],
        [
            "optuna.create_study().optimize(lambda trial: there + there, n_trials=3)",
            "wandb.agent('a', project='b')",
            "tune.run('PPO')",
            "minimize(lambda x: here + torch.tensor(x), [0.0])",
        ],
    ),
    "torchvision.transforms": (
        (
            "from PIL import Image\nfrom torchvision import transforms as T\nfrom torchvision.transforms import v2\n"
            "image = Image.open('a')\nsteps = [T.Resize(3), T.ToTensor()]\nsteps.append(T.Normalize(0.5, 0.5))"
        ),
        [
            "model(T.ToTensor()(image))",
            "model(T.Compose(steps)(image).unsqueeze(0))",
            "model(T.Compose([T.Lambda(lambda x: x.convert('RGB')), T.PILToTensor()])(image))",
            "model(v2.Compose(transforms=[v2.ToTensor()])(image))",
            "model(T.PILToTensor()(image))",
            "model(T.Normalize(0.5, 0.5)(here))",
        ],
        [
            "model(T.Compose(steps)(image).cuda())",
            "model(T.Compose([*steps, T.Lambda(lambda x: x.cuda())])(image))",
            "model(T.Compose([T.Normalize(0.5, 0.5)])(there))",
            "model(T.Compose([T.RandomApply([T.ToTensor()])])(image))",
            "model(T.Compose([T.ToTensor(), T.ToPILImage()])(image))",
            "model(T.Compose()(image))",
            "model(v2.Compose([v2.ToTensor()])(image, there)[1])",
        ],
    ),
    "segmentation_models_pytorch": (
        "import segmentation_models_pytorch as smp",
        [
            "smp.losses.DiceLoss('binary')(there, here)",
            "smp.Unet('resnet34')(there)",
            "smp.losses.SoftBCEWithLogitsLoss(pos_weight=here)(there, there)",
        ],
        [
            "smp.losses.DiceLoss('binary')(there, there)",
            "smp.Unet('resnet34').cuda()(there)",
            "smp.metrics.get_stats(there, there, mode='binary')",
            "smp.encoders.get_preprocessing_fn('resnet34')(there)",
        ],
    ),
    "sentence_transformers": (
        "from sentence_transformers import SentenceTransformer",
        [],
        ["net = SentenceTransformer('a'); net.train(); net(there)"],
    ),
    "scipy": (
        "from scipy.optimize import linear_sum_assignment, minimize",
        ["minimize(lambda x: x, there)", "linear_sum_assignment(there)"],
        ["minimize(lambda x, y: x, times.numpy(), args=(there,))", "linear_sum_assignment(there.cpu())"],
    ),
    "timm": (
        "import timm\nfrom timm.layers import DropPath, LayerNorm2d, drop_path\nfrom timm import loss",
        [
            "timm.create_model('resnet50')(there)",
            "loss.LabelSmoothingCrossEntropy()(there, labels)",
            "LayerNorm2d(3)(there)",
            "drop_path(here, 0.1) + there",
        ],
        [
            "timm.create_model('resnet50').cuda()(there)",
            "loss.LabelSmoothingCrossEntropy()(there, labels.cuda())",
            "DropPath(0.1)(there) + there",
        ],
    ),
    "torch_cluster": (
        "import torch_cluster\nfrom torch_geometric.nn import knn_graph",
        ["torch_cluster.knn(there, here, 2)", "knn_graph(here, 2) + there"],
        ["torch_cluster.knn(there, there, 2, labels, labels)", "knn_graph(there, 2) + there"],
    ),
    "torch_geometric": (
        "import torch_geometric.nn as gnn\nfrom torch_geometric import utils",
        [
            "gnn.GCNConv(3, 3)(there, there)",
            "gnn.GCNConv(3, 3).cuda()(there, labels)",
            "gnn.global_mean_pool(there, labels)",
            "x, (edges, weights) = gnn.GATConv(3, 3).cuda()(there, there, return_attention_weights=True); x + here",
            "edges, _ = utils.add_self_loops(here); edges + there",
            "utils.scatter(there, labels, 0)",
            "utils.to_dense_batch(there, labels)",
            "utils.degree(labels) + there",
        ],
        [
            "gnn.GCNConv(3, 3).cuda()(there, there)",
            "gnn.GINConv(model)(there, there)",
            "gnn.RGCNConv(3, 3, 2).cuda()(there, there, labels)",
            "gnn.global_mean_pool(there, None)",
            "utils.scatter(there, there, 0)",
            "utils.coalesce(there, here)",
        ],
    ),
    "torch_scatter": (
        "from torch_scatter import scatter_add, scatter_max",
        ["scatter_add(there, labels)", "values, index = scatter_max(there, there); values + here"],
        ["scatter_add(there, there, dim=0)", "values, index = scatter_max(there, there); values + there"],
    ),
    "torch_sparse": (
        "from torch_sparse import spmm",
        ["spmm(there, there, 3, 3, here)", "spmm(labels, there, 3, 3, there)"],
        ["spmm(there, there, 3, 3, there) + there"],
    ),
    "torchaudio": (
        "import torchaudio\nimport torchaudio.functional as A\nfrom torchaudio import transforms as T",
        [
            "T.MelSpectrogram(16000)(there)",
            "T.Resample(16000, 8000)(there)",
            "A.spectrogram(there, 0, here, 400, 200, 400, 2.0, False)",
            "wave, rate = torchaudio.load('a.wav'); model(wave)",
            "A.resample(here, 16000, 8000) + there",
            "A.create_dct(13, 40, None) @ there",
        ],
        [
            "T.MelSpectrogram(16000).cuda()(there)",
            "T.Resample(16000, 8000).cuda()(there) + there",
            "wave, rate = torchaudio.load('a.wav'); model(wave.cuda()); rate + 1",
            "A.convolve(there, there) + there",
        ],
    ),
    "torchdiffeq": (
        "from torchdiffeq import odeint",
        ["odeint(model, here, times) + there"],
        ["odeint(model, there, times) + there"],
    ),
    "torchmetrics": (
        "import torchmetrics\nimport torchmetrics.functional as M",
        [
            "M.accuracy(there, labels, task='multiclass')",
            "M.mean_squared_error(there, here)",
            "torchmetrics.Accuracy(task='binary')(there, labels.cuda())",
        ],
        [
            "M.accuracy(there, labels.cuda(), task='multiclass')",
            "M.hinge_loss(there, labels, task='multiclass')",
            "torchmetrics.AUROC(task='binary')(there, labels.cuda())",
            "torchmetrics.classification.BinaryAveragePrecision()(there, labels.cuda())",
            "torchmetrics.aggregation.CatMetric()(there)",
        ],
    ),
    "torchvision": (
        "import torchvision\nimport torchvision.transforms.functional as F\nfrom torchvision import models, ops, utils",
        [
            "ops.nms(there, here, 0.5)",
            "ops.box_iou(there, here)",
            "ops.roi_align(there, [here], 7)",
            "F.resize(here, [2, 2]) + there",
            "there + F.to_tensor(image)",
            "utils.make_grid([here, there])",
            "torchvision.io.read_image('a.png') + there",
            "torchvision.io.write_png(there, 'a.png')",
            "models.resnet18()(there)",
            "models.detection.fasterrcnn_resnet50_fpn()([there])",
        ],
        [
            "ops.nms(there, there, 0.5)",
            "ops.batched_nms(there, there, labels, 0.5)",
            "F.normalize(there, here, here) + there",
            "there + F.to_tensor(image).cuda()",
            "utils.save_image(there, 'a.png')",
            "utils.draw_bounding_boxes(there, here)",
            "models.resnet18().cuda()(there)",
            "models.ResNet50_Weights.DEFAULT.transforms()(there)",
            "models.feature_extraction.create_feature_extractor(model, ['a'])(there)",
        ],
    ),
    "transformers": (
        "import transformers",
        [],
        [
            "net = nn.Linear(3, 3); transformers.pipeline('a', model=net, device=0); net(there)",
        ],
    ),
    "xformers": (
        "from xformers.ops import memory_efficient_attention",
        ["memory_efficient_attention(there, there, here)"],
        ["memory_efficient_attention(there, there, there) + there"],
    ),
}

BROKEN = [pytest.param(text, call, id=call) for text, calls, _ in LIBRARIES.values() for call in calls]
CORRECT = [pytest.param(text, call, id=call) for text, _, calls in LIBRARIES.values() for call in calls]


def faults(imports, call):
    """The lines of mismatches and of host accesses in a program."""
    files = {"/p/train.py": f"{SETUP}{imports}\n{call}\n"}
    observations = analysis.analyse("/p/train.py", files.get, "/p")
    assert observations is not None
    points = [mismatch.point for mismatch in observations.mismatches]
    points += [access.point for access in observations.host_accesses.values()]
    return [point.tree.line(point.span.line) for point in points]


@pytest.mark.parametrize(("imports", "call"), BROKEN)
def test_a_broken_program_is_found(imports, call):
    assert faults(imports, call) == [call]


@pytest.mark.parametrize(("imports", "call"), CORRECT)
def test_a_correct_program_is_left_alone(imports, call):
    assert faults(imports, call) == []


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("apex.optimizers.FusedAdam", "Optimizer"),
        ("bitsandbytes.optim.PagedAdamW8bit", "Optimizer"),
        ("diffusers.optimization.get_scheduler", "Scheduler"),
        ("timm.scheduler.CosineLRScheduler", "Scheduler"),
        ("torch_geometric.nn.MessagePassing", "Module"),
        ("torch_geometric.nn.conv.GATv2Conv", "Module"),
        ("transformers.get_inverse_sqrt_schedule", "Scheduler"),
        ("transformers.optimization.Adafactor", "Optimizer"),
    ],
)
def test_classes_of_libraries_have_a_root(name, root):
    assert root_of(name) == root


@pytest.mark.parametrize(
    ("imports", "call", "expected"),
    [
        ("import torchvision.io", "torchvision.io.read_image('a')", "torchvision.io.read_image('a').to(device)"),
        ("from clip import tokenize as cut", "cut(['a'])", "cut(['a']).to(device)"),
        ("from torchvision.transforms import functional as F", "F.to_tensor(x)", "F.to_tensor(x).to(device)"),
        ("from torchvision.transforms import ToTensor", "ToTensor()(x)", "ToTensor()(x).to(device)"),
        ("from kornia.utils import create_meshgrid", "create_meshgrid(3, 3)", "create_meshgrid(3, 3, device=device)"),
    ],
)
def test_a_new_tensor_is_moved_unless_the_function_takes_a_device(repair, imports, call, expected):
    text = f"{imports}\nimport torch\n\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    program = f"{text}made = {{}}\nprint(torch.ones(3, device=device) + made)\n"

    assert repair("DEV102", program.format(call)) == program.format(expected)
