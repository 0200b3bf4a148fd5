import torch
from torch import nn
import torch.nn.functional as F


class SubEncoder(nn.Module):
    def __init__(self, vocab=40, dim=16, out=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mixer = nn.Linear(dim, dim)
        self.projection = nn.Linear(dim, out)

    def forward(self, batch):
        hidden = torch.tanh(self.mixer(self.embed(batch.input_ids)))
        hidden = hidden * batch.attention_mask.unsqueeze(-1)
        hidden = hidden.index_select(0, batch.prop_to_sent)
        weight = batch.all_prop_mask / batch.all_prop_mask.sum(-1, keepdim=True)
        return F.normalize(self.projection((hidden * weight.unsqueeze(-1)).sum(1)), dim=-1)


def sup_con_loss(features, labels, temperature=0.1):
    sim = features @ features.T / temperature
    same = (labels.unsqueeze(0) == labels.unsqueeze(1)).float().fill_diagonal_(0)
    sim = sim - torch.eye(len(labels), device=sim.device) * 1e9
    log_prob = F.log_softmax(sim, dim=-1)
    return -(same * log_prob).sum() / same.sum().clamp(min=1)
