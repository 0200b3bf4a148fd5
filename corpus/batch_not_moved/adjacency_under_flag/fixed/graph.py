import torch


def two_rooms(nodes=14):
    """Two rooms of nodes, each with many edges inside and one to the other."""
    draw = torch.Generator().manual_seed(2)
    room = (torch.arange(nodes) >= nodes // 2).long()
    likely = torch.where(room[:, None] == room[None, :], 0.7, 0.1)
    edges = (torch.rand(nodes, nodes, generator=draw) < likely).float()
    edges = torch.maximum(edges, edges.t())
    features = torch.randn(nodes, 5, generator=draw)
    order = torch.randperm(nodes, generator=draw)
    return edges, features, room, order[:9], order[9:]


def normalized(edges):
    edges = edges + torch.eye(len(edges))
    degree = edges.sum(1).pow(-0.5)
    return degree[:, None] * edges * degree[None, :]
