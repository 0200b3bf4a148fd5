import torch.nn as nn

from .sLSTMblock import sLSTMblock


class xLSTM(nn.Module):
    def __init__(self, layers, x_example, depth=2):
        super(xLSTM, self).__init__()
        self.layers = nn.ModuleList()
        for layer_type in layers:
            if layer_type == 's':
                self.layers.append(sLSTMblock(x_example, depth))
            else:
                raise ValueError(f"Invalid layer type: {layer_type}. Choose 's' for sLSTM.")

    def init_states(self, x):
        [l.init_states(x) for l in self.layers]

    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x
