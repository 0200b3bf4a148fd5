from argparse import Namespace

import numpy as np
import torch
import utils
from approaches import hat
from networks import mlp_hat

torch.manual_seed(0)
np.random.seed(0)
torch.nn.utils.clip_grad_norm = torch.nn.utils.clip_grad_norm_  # removed from PyTorch
net = mlp_hat.Net((1, 4, 4), [(0, 2), (1, 3)], nhid=8).cuda()
utils.print_model_report(net)
approach = hat.Appr(net, nepochs=2, sbatch=4, args=Namespace(parameter=""))
for task, classes in [(0, 2), (1, 3)]:
    images = torch.rand(8, 1, 4, 4).cuda()
    labels = torch.randint(0, classes, (8,)).cuda()
    approach.train(task, images, labels, images[:4], labels[:4])
    print(approach.eval(task, images, labels))
