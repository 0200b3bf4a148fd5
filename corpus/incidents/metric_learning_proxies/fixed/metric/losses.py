import torch
from torch.nn import functional as F


class BaseMetricLossFunction(torch.nn.Module):
    def __init__(self, normalize_embeddings=True):
        super().__init__()
        self.normalize_embeddings = normalize_embeddings

    def compute_loss(self, embeddings, labels):
        raise NotImplementedError

    def forward(self, embeddings, labels):
        if self.normalize_embeddings:
            embeddings = torch.nn.functional.normalize(embeddings, p=2, dim=1)
        return self.compute_loss(embeddings, labels)


class ProxyAnchorLoss(BaseMetricLossFunction):
    def __init__(self, num_classes, embedding_size, margin=0.1, alpha=8, **kwargs):
        super().__init__(**kwargs)
        self.proxies = torch.nn.Parameter(torch.randn(num_classes, embedding_size))
        torch.nn.init.kaiming_normal_(self.proxies, mode="fan_out")
        self.num_classes = num_classes
        self.margin = margin
        self.alpha = alpha

    def compute_loss(self, embeddings, labels):
        prox = torch.nn.functional.normalize(self.proxies, p=2, dim=1)
        cos = torch.matmul(embeddings, prox.t())
        pos = F.one_hot(labels, self.num_classes).bool()
        pos_term = torch.where(pos, torch.exp(-self.alpha * (cos - self.margin)), torch.zeros_like(cos)).sum(0)
        neg_term = torch.where(pos, torch.zeros_like(cos), torch.exp(self.alpha * (cos + self.margin))).sum(0)
        with_pos = pos.any(0).sum().clamp_min(1)
        return torch.log1p(pos_term).sum() / with_pos + torch.log1p(neg_term).sum() / self.num_classes
