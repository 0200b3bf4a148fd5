import os

import torch


class CheckpointIO:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    @property
    def latest(self):
        return os.path.join(self.folder, "latest.ckpt")

    def save(self, epoch, **objects):
        state = {name: obj.state_dict() for name, obj in objects.items()}
        state["epoch"] = epoch
        torch.save(state, self.latest)


def load_checkpoint(path, model, optimizer, scheduler, device):
    """Restore everything in place and return the epoch to start from."""
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    model.to(device)
    return state["epoch"]
