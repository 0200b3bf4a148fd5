import torch

from bio.trainer import training_and_evaluation_routine

config = {
    'protocol': 'sequence_to_class',
    'loss_choice': 'cross_entropy_loss',
    'use_class_weights': True,
    'seed': 42,
}

torch.manual_seed(config.pop('seed'))
training_and_evaluation_routine(**config)
