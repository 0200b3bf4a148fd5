_known = {}


def register(kind, name):
    def keep(thing):
        _known[kind, name] = thing
        return thing

    return keep


def build(kind, spec, *args):
    spec = dict(spec)
    return _known[kind, spec.pop("type")](*args, **spec)
