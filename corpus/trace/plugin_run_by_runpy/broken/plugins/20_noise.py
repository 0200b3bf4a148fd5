NAME = "noise"


def apply(x, step):
    noise = torch.randn(x.shape)
    return x + 0.3 * noise
