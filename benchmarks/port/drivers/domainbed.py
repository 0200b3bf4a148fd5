import torch
from domainbed import algorithms

options = {
    "lr": 1e-3, "weight_decay": 0.0, "lr_d": 1e-3, "lr_g": 1e-3, "weight_decay_d": 0.0, "weight_decay_g": 0.0, "beta1": 0.5,
    "mlp_width": 8, "mlp_depth": 3, "mlp_dropout": 0.0, "grad_penalty": 0.1, "d_steps_per_g_step": 1, "lambda": 1.0,
    "irm_lambda": 10.0, "irm_penalty_anneal_iters": 1, "rsc_f_drop_factor": 0.3, "rsc_b_drop_factor": 0.3,
    "resnet18": True, "resnet_dropout": 0.0, "batch_size": 4,
}  # fmt: skip
torch.manual_seed(0)
for name in ("DANN", "IRM", "RSC"):
    algorithm = algorithms.get_algorithm_class(name)((1, 28, 28), 3, 2, options).cuda()
    for step in range(2):
        minibatches = [(torch.rand(4, 1, 28, 28).cuda(), torch.randint(0, 3, (4,)).cuda()) for domain in range(2)]
        print(name, step, algorithm.update(minibatches))
