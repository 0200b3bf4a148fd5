class Callback:
    priority = 50

    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda loop: None
        raise AttributeError(name)


class FreeMemory(Callback):
    """Parks what the loop names while checkpoints are written."""

    priority = 10

    def __init__(self, every):
        self.every = every

    def on_epoch_start(self, loop):
        if loop.epoch % self.every == 1:
            for name in loop.parkable:
                loop.__dict__[name].cpu()


class Progress(Callback):
    def on_epoch_end(self, loop):
        print(f"epoch {loop.epoch}: {loop.loss.item():.6f}")
