from torch.nn import BatchNorm1d, Conv1d, Linear, Module, ModuleList


class Mixer(Module):
    def __init__(self, channels=4, depth=3):
        super(Mixer, self).__init__()
        self.blocks = ModuleList()
        for _ in range(depth):
            self.blocks.append(ModuleList([Conv1d(channels, channels, 3, padding=1), BatchNorm1d(channels)]))
        self.head = Linear(channels, 2)

    def forward(self, x):
        for conv, norm in self.blocks:
            x = x + norm(conv(x)).relu()
        return self.head(x.mean(dim=2))
