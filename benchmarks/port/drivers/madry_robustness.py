import pickle
import sys
from types import SimpleNamespace as Options

import torch

sys.modules["dill"] = pickle
from robustness import model_utils, train


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Conv2d(8, 16, 3, 2, 1), torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
        )
        self.classifier = torch.nn.Linear(16, 10)

    def forward(self, images):
        return self.classifier(self.features(images))


torch.manual_seed(0)
dataset = Options(mean=torch.tensor([0.49, 0.48, 0.45]), std=torch.tensor([0.2, 0.2, 0.2]))
model, _ = model_utils.make_and_restore_model(arch=Net(), dataset=dataset, add_custom_forward=True)
loaders = [
    torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.rand(12, 3, 16, 16), torch.randint(0, 10, (12,))), batch_size=4, pin_memory=True
    )
    for _ in range(2)
]
args = Options(
    adv_train=1, adv_eval=1, epochs=1, out_dir=".", log_iters=1, lr=0.1, momentum=0.9, weight_decay=5e-4, step_lr=50, step_lr_gamma=0.1,
    custom_lr_multiplier=None, lr_interpolation="step", save_ckpt_iters=-1, mixed_precision=False, attack_steps=2, eps="0.5", constraint="2",
    use_best=1, attack_lr="0.1", random_restarts=0, random_start=0, custom_eps_multiplier=None,
)
train.train_model(args, model, loaders)
