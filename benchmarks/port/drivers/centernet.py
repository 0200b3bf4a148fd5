import datetime
import sys
import types

import _init_paths
import torch


class Bar:
    elapsed_td = eta_td = datetime.timedelta(seconds=1)
    suffix = ""

    def __init__(self, title, max):
        self.number = max

    def next(self):
        pass

    def finish(self):
        pass


sys.modules["progress.bar"] = types.ModuleType("progress.bar")
sys.modules["progress.bar"].Bar = Bar
sys.modules["models.networks.DCNv2.dcn_v2"] = types.ModuleType("dcn_v2")  # an extension, not used by this model
sys.modules["models.networks.DCNv2.dcn_v2"].DCN = None
import main
from models.networks import msra_resnet


class Boxes(torch.utils.data.Dataset):
    num_classes, default_resolution = 3, [64, 64]
    mean, std = [0.4, 0.4, 0.4], [0.3, 0.3, 0.3]

    def __init__(self, options, split):
        self.number = 4 if split == "train" else 1

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        heat = torch.rand(3, 16, 16) * 0.9
        heat[0, 4, 5], heat[1, 9, 9] = 1, 1
        mask = torch.tensor([1, 1, 0, 0], dtype=torch.uint8)
        return {
            "input": torch.randn(3, 64, 64), "hm": heat, "reg_mask": mask, "ind": torch.tensor([4 * 16 + 5, 9 * 16 + 9, 0, 0]),
            "wh": torch.rand(4, 2) * 8, "reg": torch.rand(4, 2),
        }


torch.manual_seed(0)
msra_resnet.model_zoo = types.SimpleNamespace(load_url=lambda url: {})
main.get_dataset = lambda name, task: Boxes
options = main.opts().parse(
    ["ctdet", "--exp_id", "small", "--arch", "res_18", "--batch_size", "2", "--num_workers", "0", "--num_epochs", "1", "--print_iter", "1",
     "--head_conv", "16", "--val_intervals", "1"]
)
main.main(options)
