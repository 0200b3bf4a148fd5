import torch


class ChebConv(torch.nn.Module):
    def __init__(self, in_channels: int, out_channels: int, K: int, bias: bool = True):
        super(ChebConv, self).__init__()
        self.lins = torch.nn.ModuleList([torch.nn.Linear(in_channels, out_channels, bias=bias and k == 0) for k in range(K)])

    def forward(self, x, edge_index, edge_weight):
        row, col = edge_index
        out = self.lins[0](x)
        for lin in self.lins[1:]:
            x = torch.zeros_like(x).index_add(0, col, x[row] * edge_weight[:, None])
            out = out + lin(x)
        return out


class GConvGRU(torch.nn.Module):
    r"""A graph convolutional gated recurrent unit.

    Args:
        in_channels (int): Number of input features.
        out_channels (int): Number of output features.
        K (int): Filter size.
        bias (bool, optional): Whether there is a bias in the convolutions.
    """

    def __init__(self, in_channels: int, out_channels: int, K: int, bias: bool = True):
        super(GConvGRU, self).__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.K = K
        self.bias = bias
        self._create_parameters_and_layers()

    def _create_parameters_and_layers(self):
        for gate in ("z", "r", "h"):
            setattr(self, "conv_x_" + gate, ChebConv(self.in_channels, self.out_channels, self.K, self.bias))
            setattr(self, "conv_h_" + gate, ChebConv(self.out_channels, self.out_channels, self.K, self.bias))

    def _set_hidden_state(self, X, H):
        if H is None:
            H = torch.zeros(X.shape[0], self.out_channels)
        return H

    def _calculate_update_gate(self, X, edge_index, edge_weight, H):
        Z = self.conv_x_z(X, edge_index, edge_weight)
        Z = Z + self.conv_h_z(H, edge_index, edge_weight)
        Z = torch.sigmoid(Z)
        return Z

    def _calculate_reset_gate(self, X, edge_index, edge_weight, H):
        R = self.conv_x_r(X, edge_index, edge_weight)
        R = R + self.conv_h_r(H, edge_index, edge_weight)
        R = torch.sigmoid(R)
        return R

    def _calculate_candidate_state(self, X, edge_index, edge_weight, H, R):
        H_tilde = self.conv_x_h(X, edge_index, edge_weight)
        H_tilde = H_tilde + self.conv_h_h(H * R, edge_index, edge_weight)
        H_tilde = torch.tanh(H_tilde)
        return H_tilde

    def _calculate_hidden_state(self, Z, H, H_tilde):
        H = Z * H + (1 - Z) * H_tilde
        return H

    def forward(self, X, edge_index, edge_weight, H=None):
        """Makes a forward pass. If the hidden state matrix is not present, it is initialized with zeros."""
        H = self._set_hidden_state(X, H)
        Z = self._calculate_update_gate(X, edge_index, edge_weight, H)
        R = self._calculate_reset_gate(X, edge_index, edge_weight, H)
        H_tilde = self._calculate_candidate_state(X, edge_index, edge_weight, H, R)
        H = self._calculate_hidden_state(Z, H, H_tilde)
        return H
