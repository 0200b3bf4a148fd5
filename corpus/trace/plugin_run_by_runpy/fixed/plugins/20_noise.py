NAME = "noise"


def apply(x, step):
    noise = torch.randn(x.shape).to(x.device)
    return x + 0.3 * noise
