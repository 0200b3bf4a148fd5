import torch
from torch.utils.data import Dataset


class ShiftedDataset(Dataset):
    """Windows of a series, each with what comes after it."""

    def __init__(self, series, input_length=6, output_length=2, device=None):
        self.series = torch.as_tensor(series, dtype=torch.float32, device=device)
        self.input_length = input_length
        self.output_length = output_length

    def __len__(self):
        return len(self.series) - self.input_length - self.output_length + 1

    def __getitem__(self, index):
        middle = index + self.input_length
        return self.series[index:middle], self.series[middle:middle + self.output_length]
