import os
import sys
import types

import torch


class Table:
    def __init__(self, content):
        self.content = content

    def to_csv(self, path, index):
        print(path, self.content)


class Pictures(torch.utils.data.Dataset):
    def __init__(self, img_ids, **options):
        self.names = img_ids

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        image, mask = torch.rand(3, 32, 32, generator=draw), (torch.rand(1, 32, 32, generator=draw) > 0.5).float()
        return image, mask, {"img_id": self.names[index]}


def split(names, test_size, random_state):
    return names[2:], names[:2]


for name in ("pandas", "sklearn", "sklearn.model_selection"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["pandas"].DataFrame = Table
sys.modules["sklearn.model_selection"].train_test_split = split
import train

folder = os.path.join("inputs", "dsb2018_96", "images")
os.makedirs(folder, exist_ok=True)
for number in range(6):
    open(os.path.join(folder, f"{number}.png"), "w").close()
train.Dataset = Pictures
torch.manual_seed(0)
for supervision in ("false", "true"):
    sys.argv = ["train.py", "--epochs", "1", "-b", "2", "--num_workers", "0", "--deep_supervision", supervision]
    train.main()
