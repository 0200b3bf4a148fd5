from .mixer import TinyMixer

_entrypoints = {}


def register_model(fn):
    _entrypoints[fn.__name__] = fn
    return fn


@register_model
def mixer_tiny(**kwargs):
    return TinyMixer(dim=16, depth=2, **kwargs)


@register_model
def mixer_small(**kwargs):
    return TinyMixer(dim=24, depth=3, **kwargs)


def create_model(model_name, **kwargs):
    return _entrypoints[model_name](**kwargs)
