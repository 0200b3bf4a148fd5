import torch
import torch.utils.serialization

torch.utils.serialization.load_lua = None  # removed from PyTorch 1.0
from trainer import MUNIT_Trainer, UNIT_Trainer  # noqa: E402

torch.manual_seed(0)
options = {
    "lr": 0.0001, "beta1": 0.5, "beta2": 0.999, "weight_decay": 0.0001, "init": "kaiming", "lr_policy": "step", "step_size": 10,
    "gamma": 0.5, "display_size": 2, "input_dim_a": 3, "input_dim_b": 3, "gan_w": 1, "recon_x_w": 10, "recon_s_w": 1,
    "recon_c_w": 1, "recon_x_cyc_w": 10, "recon_kl_w": 0.01, "recon_kl_cyc_w": 0.01, "vgg_w": 0,
    "gen": {"dim": 4, "mlp_dim": 8, "style_dim": 4, "activ": "relu", "n_downsample": 2, "n_res": 1, "pad_type": "reflect"},
    "dis": {
        "dim": 4, "norm": "none", "activ": "lrelu", "n_layer": 2, "gan_type": "lsgan", "num_scales": 2, "pad_type": "reflect",
    },
}  # fmt: skip
for kind in (MUNIT_Trainer, UNIT_Trainer):
    options["dis"]["gan_type"] = "lsgan" if kind is MUNIT_Trainer else "nsgan"
    trainer = kind(options)
    trainer.cuda()
    for step in range(2):
        images_a, images_b = torch.rand(2, 3, 32, 32).cuda().detach(), torch.rand(2, 3, 32, 32).cuda().detach()
        trainer.update_learning_rate()
        trainer.dis_update(images_a, images_b, options)
        trainer.gen_update(images_a, images_b, options)
        print(step, trainer.loss_dis_total.item(), trainer.loss_gen_total.item())
    print(sum(part.sum().item() for part in trainer.sample(images_a, images_b)))
