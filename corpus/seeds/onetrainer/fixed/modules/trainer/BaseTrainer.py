from abc import ABCMeta, abstractmethod

import torch

from modules.dataLoader.DiffusionDataLoader import DiffusionDataLoader
from modules.modelSetup.DiffusionSetup import DiffusionSetup


class BaseTrainer(metaclass=ABCMeta):
    def __init__(self, config):
        self.config = config
        self.train_device = torch.device(self.config.train_device)
        self.temp_device = torch.device(self.config.temp_device)

    @abstractmethod
    def start(self):
        pass

    @abstractmethod
    def train(self):
        pass

    def create_model_setup(self):
        return DiffusionSetup(self.train_device, self.temp_device)

    def create_data_loader(self, model, is_validation=False):
        return DiffusionDataLoader(self.train_device, self.temp_device, self.config, model, is_validation)
