import logging

import torch
from model import model_rnn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from trainer import trainer_Dual_RNN


class Mixtures(torch.utils.data.Dataset):
    def __init__(self, seed):
        self.seed = seed

    def __len__(self):
        return 2

    def __getitem__(self, index):
        voices = torch.rand(2, 200, generator=torch.Generator().manual_seed(index + self.seed)) - 0.5
        return voices.sum(dim=0), [voices[0], voices[1]]


logging.basicConfig(level=logging.INFO)
torch.manual_seed(0)
opt = {
    "name": "Dual_Path_RNN",
    "num_spks": 2,
    "train": {"epoch": 2, "early_stop": 10, "path": "checkpoint", "gpuid": [0]},
    "resume": {"state": False, "path": "checkpoint"},
    "optim": {"clip_norm": 5},
    "logger": {"name": "DPRNN", "path": "checkpoint", "print_freq": 1},
}
net = model_rnn.Dual_RNN_model(8, 8, 8, kernel_size=2, norm="ln", bidirectional=True, num_layers=2, K=20, num_spks=2)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)
scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=2, min_lr=1e-8)
loaders = [torch.utils.data.DataLoader(Mixtures(seed), batch_size=1) for seed in (0, 10)]
trainer_Dual_RNN.Trainer(*loaders, net, optimizer, scheduler, opt).run()
