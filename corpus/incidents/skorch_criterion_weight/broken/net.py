"""Neural net classes."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def to_tensor(X, device):
    """Turn arrays, and dicts and tuples of them, into tensors on the device."""
    if isinstance(X, dict):
        return {key: to_tensor(val, device) for key, val in X.items()}
    if isinstance(X, (list, tuple)):
        return type(X)(to_tensor(x, device) for x in X)
    return torch.as_tensor(X, device=device)


class ArrayDataset(Dataset):
    def __init__(self, X, y):
        self.X, self.y = X, y

    def __len__(self):
        return len(self.X)

    def __getitem__(self, i):
        return self.X[i], self.y[i]


class NeuralNet:
    def __init__(self, module, criterion, optimizer=torch.optim.SGD, lr=0.01, max_epochs=10, batch_size=128, device='cpu', **kwargs):
        self.module = module
        self.criterion = criterion
        self.optimizer = optimizer
        self.lr = lr
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.device = device
        vars(self).update(kwargs)
        self.history = []

    def _get_params_for(self, prefix):
        start = prefix + '__'
        return {key[len(start):]: val for key, val in self.__dict__.items() if key.startswith(start)}

    def initialize_criterion(self):
        """Initializes the criterion."""
        criterion_params = self._get_params_for('criterion')
        self.criterion_ = self.criterion(**criterion_params)
        return self

    def initialize_module(self):
        """Initializes the module, and moves it to the device of the net."""
        kwargs = self._get_params_for('module')
        module = self.module
        is_initialized = isinstance(module, torch.nn.Module)
        if kwargs or not is_initialized:
            module = module(**kwargs)
        self.module_ = module.to(self.device)
        return self

    def initialize_optimizer(self):
        self.optimizer_ = self.optimizer(self.module_.parameters(), lr=self.lr, **self._get_params_for('optimizer'))

    def initialize(self):
        self.initialize_criterion()
        self.initialize_module()
        self.initialize_optimizer()
        self.initialized_ = True
        return self

    def infer(self, x):
        return self.module_(to_tensor(x, device=self.device))

    def get_loss(self, y_pred, y_true, X=None, training=False):
        y_true = to_tensor(y_true, device=self.device)
        return self.criterion_(y_pred, y_true)

    def train_step(self, Xi, yi):
        self.module_.train()
        self.optimizer_.zero_grad()
        y_pred = self.infer(Xi)
        loss = self.get_loss(y_pred, yi, X=Xi, training=True)
        loss.backward()
        self.optimizer_.step()
        return {'loss': loss, 'y_pred': y_pred}

    def fit(self, X, y):
        self.initialize()
        for epoch in range(self.max_epochs):
            losses = []
            for Xi, yi in DataLoader(ArrayDataset(X, y), batch_size=self.batch_size):
                losses.append(self.train_step(Xi, yi)['loss'].item())
            self.history.append({'epoch': epoch + 1, 'train_loss': np.mean(losses)})
            print('{epoch:7d} {train_loss:12.4f}'.format(**self.history[-1]))
        return self
