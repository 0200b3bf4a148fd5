import logging

import torch
from torch.utils.data import DataLoader, TensorDataset

from .losses import get_loss
from .solver import Solver, get_device
from .target_manager import TargetManager

logger = logging.getLogger(__name__)


def training_and_evaluation_routine(protocol, loss_choice, use_class_weights, n_outputs=3, device=None, epochs=2, **kwargs):
    device = get_device(device)
    target_manager = TargetManager(n_outputs)

    class_weights = None
    if use_class_weights:
        class_weights = target_manager.compute_class_weights()
        class_weights = class_weights.to(device)
        logger.info('class weights %s', class_weights)

    embeddings = torch.randn(40, 10)
    loader = DataLoader(TensorDataset(embeddings, target_manager.training_targets), batch_size=10)

    model = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, n_outputs)).to(device)
    loss_function = get_loss(protocol, loss_choice, weight=class_weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, amsgrad=True)
    solver = Solver(model, optimizer, loss_function, device)
    solver.train(loader, epochs)
