import math

import torch
import torch.nn.functional as F


def get_positive_expectation(p_samples, average=True):
    """Computes the positive part of a divergence (Jensen-Shannon)."""
    log_2 = math.log(2.)
    Ep = log_2 - F.softplus(-p_samples)
    return Ep.mean() if average else Ep


def get_negative_expectation(q_samples, average=True):
    """Computes the negative part of a divergence (Jensen-Shannon)."""
    log_2 = math.log(2.)
    Eq = F.softplus(-q_samples) + q_samples - log_2
    return Eq.mean() if average else Eq


class GlobalMutualInformationLoss:
    """Maximises the mutual information of two encodings of the same graphs."""

    def _create_pytorch_loss(self):

        def loss(inst_enc, graph_enc):
            num_graphs = graph_enc.shape[0]
            pos_mask = torch.eye(num_graphs)
            neg_mask = 1 - pos_mask
            res = torch.mm(inst_enc, graph_enc.t())
            E_pos = get_positive_expectation(res * pos_mask, average=False)
            E_pos = (E_pos * pos_mask).sum() / pos_mask.sum()
            E_neg = get_negative_expectation(res * neg_mask, average=False)
            E_neg = (E_neg * neg_mask).sum() / neg_mask.sum()
            return E_neg - E_pos

        return loss


class LocalMutualInformationLoss:
    """The same between the parts of graphs and the whole."""

    def _create_pytorch_loss(self):

        def loss(local_enc, global_enc, batch_graph_index):
            num_graphs = global_enc.shape[0]
            num_nodes = local_enc.shape[0]
            pos_mask = torch.zeros((num_nodes, num_graphs))
            neg_mask = torch.ones((num_nodes, num_graphs))
            for nodeidx, graphidx in enumerate(batch_graph_index):
                pos_mask[nodeidx][graphidx] = 1.
                neg_mask[nodeidx][graphidx] = 0.
            res = torch.mm(local_enc, global_enc.t())
            E_pos = get_positive_expectation(res * pos_mask, average=False).sum()
            E_pos = E_pos / num_nodes
            E_neg = get_negative_expectation(res * neg_mask, average=False).sum()
            E_neg = E_neg / (num_nodes * (num_graphs - 1))
            return E_neg - E_pos

        return loss
