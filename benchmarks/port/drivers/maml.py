import sys
from argparse import Namespace

import miniimagenet_train
import torch


class Tasks(torch.utils.data.Dataset):
    def __init__(self, root, mode, n_way, k_shot, k_query, batchsz, resize):
        self.count = 4 if mode == "train" else 1
        self.sizes = n_way * k_shot, n_way * k_query
        self.labels = torch.arange(n_way).repeat(k_shot), torch.arange(n_way).repeat(k_query)
        self.resize = resize

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        support, query = (torch.rand(size, 3, self.resize, self.resize, generator=draw) for size in self.sizes)
        return support, self.labels[0], query, self.labels[1]


miniimagenet_train.MiniImagenet = Tasks
miniimagenet_train.args = Namespace(
    epoch=10000, n_way=2, k_spt=1, k_qry=2, imgsz=84, imgc=3, task_num=2, meta_lr=1e-3, update_lr=0.01, update_step=2,
    update_step_test=2,
)
sys.argv = ["miniimagenet_train.py"]
miniimagenet_train.main()
