import torch

_all = {}


def strategy(fun):
    _all[fun.__name__] = fun
    return fun


@strategy
def keep(state, shape):
    return state


@strategy
def zero(state, shape):
    return torch.zeros(*shape)


def pick(name):
    return _all[name]
