from argparse import Namespace

import torch
from trainer import Trainer

options = Namespace(
    model="sagan", adv_loss="wgan-gp", imsize=64, g_num=5, z_dim=8, g_conv_dim=64, d_conv_dim=64, parallel=False, lambda_gp=10,
    total_step=2, d_iters=1, batch_size=2, num_workers=0, g_lr=1e-4, d_lr=4e-4, lr_decay=0.95, beta1=0.0, beta2=0.9,
    pretrained_model=None, dataset="synthetic", use_tensorboard=False, image_path="data", log_path="logs",
    model_save_path="models", sample_path="samples", log_step=100, sample_step=100, model_save_step=100, version="v",
)  # fmt: skip
torch.manual_seed(0)
images = torch.utils.data.TensorDataset(torch.rand(4, 3, 64, 64), torch.zeros(4))
trainer = Trainer(torch.utils.data.DataLoader(images, batch_size=2), options)
trainer.train()
