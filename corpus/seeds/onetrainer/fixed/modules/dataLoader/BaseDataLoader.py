from abc import ABCMeta, abstractmethod

import torch


class BaseDataLoader(metaclass=ABCMeta):
    def __init__(self, train_device: torch.device, temp_device: torch.device):
        self.train_device = train_device
        self.temp_device = temp_device

    @abstractmethod
    def get_data_set(self):
        pass
