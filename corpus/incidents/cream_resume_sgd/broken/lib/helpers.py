import logging
import os
from copy import deepcopy

import torch


def load_checkpoint(model, checkpoint_path, strict=True):
    if checkpoint_path and os.path.isfile(checkpoint_path):
        checkpoint = torch.load(checkpoint_path, map_location='cpu')
        model.load_state_dict(checkpoint['state_dict'], strict=strict)
    else:
        raise FileNotFoundError(checkpoint_path)


def resume_checkpoint(model, checkpoint_path):
    optimizer_state = {}
    resume_epoch = None
    if os.path.isfile(checkpoint_path):
        checkpoint = torch.load(checkpoint_path, map_location='cpu')
        if isinstance(checkpoint, dict) and 'state_dict' in checkpoint:
            model.load_state_dict(deepcopy(checkpoint['state_dict']))
            if 'optimizer' in checkpoint:
                optimizer_state['optimizer'] = checkpoint['optimizer']
            if 'epoch' in checkpoint:
                resume_epoch = checkpoint['epoch'] + 1
            logging.info("Loaded checkpoint '%s' (epoch %s)", checkpoint_path, checkpoint['epoch'])
        else:
            model.load_state_dict(checkpoint)
        return optimizer_state, resume_epoch
    raise FileNotFoundError(checkpoint_path)
