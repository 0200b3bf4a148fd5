import os
import random
from functools import partial

import torch
from torch.utils.data import DataLoader, TensorDataset

import dist
from utils import arg_util, misc


class NullDDP(torch.nn.Module):
    def __init__(self, module, *args, **kwargs):
        super(NullDDP, self).__init__()
        self.module = module
        self.require_backward_grad_sync = False

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)


def build_everything(args: arg_util.Args):
    # resume
    auto_resume_info, start_ep, trainer_state = misc.auto_resume(args, 'ar-ckpt*.pth')
    for line in auto_resume_info:
        print(line)

    # build data
    gen = torch.Generator().manual_seed(args.seed)
    images = torch.randn(32, args.length, 4, generator=gen).cumsum(dim=1)
    ld_train = DataLoader(TensorDataset(images), batch_size=args.bs, shuffle=True, generator=gen)

    # build models
    from models import build_vae_var
    from trainer import VARTrainer
    from utils.amp_sc import AmpOptimizer

    vae_local, var_wo_ddp = build_vae_var(device=dist.get_device(), depth=args.depth)
    var = NullDDP(var_wo_ddp, device_ids=[0], find_unused_parameters=False)

    # build optimizer
    names, paras = zip(*[(n, p) for n, p in var_wo_ddp.named_parameters() if p.requires_grad])
    opt_clz = {
        'sgd': partial(torch.optim.SGD, momentum=0.9, nesterov=True),
        'adam': partial(torch.optim.AdamW, betas=(0.9, 0.95), fused=args.afuse),
        'adamw': partial(torch.optim.AdamW, betas=(0.9, 0.95), fused=args.afuse),
    }[args.opt.lower().strip()]
    opt_kw = dict(lr=args.tlr, weight_decay=0)
    var_optim = AmpOptimizer(
        mixed_precision=args.fp16, optimizer=opt_clz(params=paras, **opt_kw), names=names, paras=paras,
        grad_clip=args.tclip, n_gradient_accumulation=args.ac
    )

    # build trainer
    trainer = VARTrainer(
        device=args.device, vae_local=vae_local, var_wo_ddp=var_wo_ddp, var=var, var_opt=var_optim,
        label_smooth=args.ls,
    )
    if trainer_state is not None and len(trainer_state):
        trainer.load_state_dict(trainer_state, strict=False)
    return trainer, start_ep, ld_train


def main_training():
    args = arg_util.init_dist_and_get_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    trainer, start_ep, ld_train = build_everything(args)

    for ep in range(start_ep, args.ep):
        for it, (inp,) in enumerate(ld_train):
            inp = inp.to(args.device, non_blocking=True)
            loss = trainer.train_step(it=it, stepping=(it + 1) % args.ac == 0, inp_B3HW=inp)
            print(f'[ep {ep} it {it}] loss {loss:.5f}')
        if dist.is_master():
            os.makedirs(args.local_out_dir_path, exist_ok=True)
            torch.save({
                'epoch': ep + 1,
                'trainer': trainer.state_dict(),
            }, os.path.join(args.local_out_dir_path, 'ar-ckpt-last.pth'))


if __name__ == '__main__':
    main_training()
