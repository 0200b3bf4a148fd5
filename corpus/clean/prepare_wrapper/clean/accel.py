import torch
from torch.utils.data import DataLoader


class DeviceLoader:
    def __init__(self, loader, device):
        self.loader, self.device = loader, device

    def __iter__(self):
        for batch in self.loader:
            yield {k: v.to(self.device) if torch.is_tensor(v) else v for k, v in batch.items()}

    def __len__(self):
        return len(self.loader)


class Accelerator:
    def __init__(self):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def prepare(self, *objects):
        return tuple(self._prepare_one(obj) for obj in objects)

    def _prepare_one(self, obj):
        if isinstance(obj, torch.nn.Module):
            return obj.to(self.device)
        if isinstance(obj, DataLoader):
            return DeviceLoader(obj, self.device)
        return obj

    def backward(self, loss):
        loss.backward()
