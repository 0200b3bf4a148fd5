from collections import OrderedDict

import torch


def read_state(path):
    state = torch.load(path)
    if 'state_dict' in state:
        state = state['state_dict']
    return OrderedDict((k[len('module.'):] if k.startswith('module.') else k, v) for k, v in state.items())


def load_pretrained(model, path):
    own = model.state_dict()
    kept = {k: v for k, v in read_state(path).items() if k in own and own[k].shape == v.shape}
    own.update(kept)
    model.load_state_dict(own)
    return len(kept)
