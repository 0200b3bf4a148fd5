import os
import sys
import types

import torch

sys.modules["torch.utils.tensorboard"] = types.ModuleType("torch.utils.tensorboard")
sys.modules["torch.utils.tensorboard"].SummaryWriter = None
import loss_functions  # noqa: E402
import modules  # noqa: E402
import training  # noqa: E402

torch.manual_seed(0)


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        side = torch.linspace(-1, 1, 8)
        grid = torch.stack(torch.meshgrid(side, side, indexing="ij"), dim=-1).reshape(-1, 2)
        return {"idx": index, "coords": grid}, {"img": torch.rand(64, 1)}


def summary(model, model_input, gt, model_output, writer, total_steps):
    print(total_steps, model_output["model_out"].sum().item())


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def add_scalar(self, name, value, step):
        print(step, name, float(value))


class Bar:
    def __init__(self, total):
        self.total = total

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def update(self, steps):
        pass

    @staticmethod
    def write(text):
        print(text.partition(", iteration time")[0])


training.SummaryWriter = Writer
training.tqdm = Bar
model = modules.SingleBVPNet(type="sine", mode="mlp", out_features=1, sidelength=(8, 8), hidden_features=16)
model.cuda()
loader = torch.utils.data.DataLoader(Images(), batch_size=1)
training.train(
    model=model, train_dataloader=loader, epochs=2, lr=1e-3, steps_til_summary=1, epochs_til_checkpoint=1,
    model_dir=os.path.join(os.getcwd(), "run"), summary_fn=summary,
    loss_fn=lambda output, truth: loss_functions.image_mse(None, output, truth),
)  # fmt: skip
