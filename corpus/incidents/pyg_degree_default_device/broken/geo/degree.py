import torch


def degree(index, num_nodes=None, dtype=None, device=None):
    """Computes the degree of a given index tensor.

    Args:
        index (Tensor): Source or target indices of edges.
        num_nodes (int, optional): The number of nodes in `index`.
        dtype (:obj:`torch.dtype`, optional): The desired data type of the result.
        device (:obj:`torch.device`, optional): The desired device of the result.

    :rtype: :class:`Tensor`
    """
    num_nodes = int(index.max()) + 1 if num_nodes is None else num_nodes
    out = torch.zeros((num_nodes), dtype=dtype, device=device)
    return out.scatter_add_(0, index, out.new_ones((index.size(0))))
