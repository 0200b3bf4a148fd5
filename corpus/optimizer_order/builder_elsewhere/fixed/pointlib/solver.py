import torch


def build_optimizer(cfg, model):
    params = []
    for key, value in model.named_parameters():
        if not value.requires_grad:
            continue
        params += [{"params": [value], "lr": cfg.BASE_LR * (2 if "bias" in key else 1)}]
    if cfg.OPTIM == "adagrad":
        return torch.optim.Adagrad(params, cfg.BASE_LR)
    return torch.optim.SGD(params, cfg.BASE_LR, momentum=0.9)


def build_lr_scheduler(cfg, optimizer):
    return torch.optim.lr_scheduler.MultiStepLR(optimizer, [cfg.MAX_ITER // 2], gamma=0.5)
