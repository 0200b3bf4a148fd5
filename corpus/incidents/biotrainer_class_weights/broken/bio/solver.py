import torch


class Solver:
    def __init__(self, network, optimizer, loss_function, device):
        self.network = network
        self.optimizer = optimizer
        self.loss_function = loss_function
        self.device = device

    def train(self, loader, epochs):
        for epoch in range(epochs):
            for batch in loader:
                loss = self._training_iteration(*batch)
            print('Epoch {}: {:.4f}'.format(epoch, loss))

    def _training_iteration(self, x, y):
        x = x.to(self.device)
        y = y.to(self.device)
        self.network = self.network.train()
        self.optimizer.zero_grad()
        prediction = self.network(x)
        loss = self.loss_function(prediction, y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def get_device(device=None):
    """Returns the device that was asked for, the accelerator where there is one otherwise."""
    if device is not None:
        return torch.device(device)
    return torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')
