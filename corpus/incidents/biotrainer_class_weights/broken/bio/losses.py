import torch.nn as nn


def get_loss(protocol, loss_choice, weight=None):
    losses = {
        'residue_to_class': {'cross_entropy_loss': lambda: nn.CrossEntropyLoss(weight=weight, ignore_index=-100)},
        'sequence_to_class': {'cross_entropy_loss': lambda: nn.CrossEntropyLoss(weight=weight)},
        'sequence_to_value': {'mean_squared_error': lambda: nn.MSELoss()},
    }
    if protocol not in losses or loss_choice not in losses[protocol]:
        raise NotImplementedError('no loss {} for {}'.format(loss_choice, protocol))
    return losses[protocol][loss_choice]()
