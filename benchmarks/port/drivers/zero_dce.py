from argparse import Namespace

import torch

torch.nn.utils.clip_grad_norm = torch.nn.utils.clip_grad_norm_  # removed from PyTorch
import dataloader  # noqa: E402
import lowlight_train  # noqa: E402


class Images(torch.utils.data.Dataset):
    def __init__(self, folder):
        self.images = torch.rand(6, 3, 64, 64)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index]


torch.manual_seed(0)
dataloader.lowlight_loader = Images
options = Namespace(
    lowlight_images_path="", lr=1e-4, weight_decay=1e-4, grad_clip_norm=0.1, num_epochs=1, train_batch_size=2, num_workers=0,
    display_iter=1, snapshot_iter=100, snapshots_folder="", load_pretrain=False, pretrain_dir="",
)  # fmt: skip
lowlight_train.train(options)
