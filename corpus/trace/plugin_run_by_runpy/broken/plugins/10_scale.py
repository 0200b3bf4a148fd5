NAME = "scale"


def apply(x, step):
    return x * (1 + 0.1 * step)
