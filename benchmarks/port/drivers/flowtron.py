import os
import sys
import types

import torch

sys.modules["torch.utils.tensorboard"] = types.ModuleType("torch.utils.tensorboard")
sys.modules["torch.utils.tensorboard"].SummaryWriter = object
os.makedirs("data", exist_ok=True)
for name, line in (("cmudict_dictionary", "HELLO  HH AH0 L OW1\n"), ("heteronyms", "read\n")):
    with open(os.path.join("data", name), "w", encoding="latin-1") as file:
        file.write(line)
import train


class Speech(torch.utils.data.Dataset):
    use_attn_prior = True

    def __init__(self, seed):
        draw = torch.Generator().manual_seed(seed)
        self.items = [
            (torch.rand(8, 14 - each, generator=draw), each % 2, torch.randint(0, 20, (6 - each,), generator=draw), self.prior(14 - each, 6 - each))
            for each in range(4)
        ]

    @staticmethod
    def prior(frames, letters):
        return torch.full((frames, letters), 1.0 / letters)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def loaders(config, n_gpus, batch_size):
    collate = train.DataCollate(n_frames_per_step=1, use_attn_prior=True)
    return torch.utils.data.DataLoader(Speech(0), batch_size, collate_fn=collate), Speech(1), collate


class Loader(torch.utils.data.DataLoader):
    def __init__(self, *data, num_workers=0, **options):
        super().__init__(*data, **options)


train.DataLoader = Loader
train.prepare_dataloaders = loaders
train.data_config = {}
train.model_config = {
    "n_speakers": 2, "n_speaker_dim": 4, "n_text": 20, "n_text_dim": 16, "n_flows": 2, "n_mel_channels": 8, "n_hidden": 16,
    "n_attn_channels": 8, "n_lstm_layers": 1, "use_gate_layer": True, "mel_encoder_n_hidden": 16, "n_components": 0,
    "fixed_gaussian": True, "mean_scale": 0.0, "dummy_speaker_embedding": False, "use_cumm_attention": False,
}
train.train(
    1, 0, "run", epochs=2, optim_algo="RAdam", learning_rate=1e-3, weight_decay=1e-6, sigma=1.0, iters_per_checkpoint=3, batch_size=2,
    seed=1234, checkpoint_path="", ignore_layers=[], include_layers=[], finetune_layers=[], warmstart_checkpoint_path="",
    with_tensorboard=False, grad_clip_val=1.0, gate_loss=True, fp16_run=False, use_ctc_loss=True, ctc_loss_weight=0.01,
    blank_logprob=-8, ctc_loss_start_iter=2,
)
