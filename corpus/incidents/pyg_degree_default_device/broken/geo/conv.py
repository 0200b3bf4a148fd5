import torch
from torch.nn import Parameter

from .degree import degree


class GraphConvolution(torch.nn.Module):
    def __init__(self, in_channels, out_channels):
        super(GraphConvolution, self).__init__()
        self.weight = Parameter(torch.Tensor(in_channels, out_channels))
        self.bias = Parameter(torch.Tensor(out_channels))
        self.reset_parameters()

    def reset_parameters(self):
        torch.nn.init.xavier_uniform_(self.weight)
        self.bias.data.zero_()

    def forward(self, x, edge_index):
        row, col = edge_index
        deg = degree(row, x.size(0), x.dtype) + 1
        norm = deg.pow(-0.5)
        out = x @ self.weight
        message = (norm[row] * norm[col]).view(-1, 1) * out[col]
        out = out / deg.view(-1, 1)
        return out.index_add(0, row, message) + self.bias
