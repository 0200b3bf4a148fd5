import torch
from torch import nn
from torch.nn import functional as F


class BasicPBC(nn.Module):
    """Matches segments of a line drawing with those of a coloured reference."""

    def __init__(self, dim=16):
        super(BasicPBC, self).__init__()
        self.segment_desc = nn.Sequential(nn.Conv2d(3, dim, 3, padding=1), nn.ReLU(), nn.Conv2d(dim, dim, 3, padding=1))
        self.pos_desc = nn.Linear(2, dim)

    def super_pixel_pooling(self, feat, seg):
        n = int(seg.max()) + 1
        flat, owner = feat.flatten(1).T, seg.flatten()
        summed = torch.zeros(n, flat.shape[1], device=feat.device).index_add_(0, owner, flat)
        return summed / torch.bincount(owner, minlength=n).clamp(min=1)[:, None]

    def describe(self, line, seg, kpts):
        return F.normalize(self.super_pixel_pooling(self.segment_desc(line[None])[0], seg) + self.pos_desc(kpts), dim=-1)

    def forward(self, data):
        desc = self.describe(data["line"], data["segment"], data["keypoints"])
        desc_ref = self.describe(data["line_ref"], data["segment_ref"], data["keypoints_ref"])
        scores = desc @ desc_ref.T / 0.1

        all_matches = data["all_matches"]
        valid = all_matches >= 0
        rows = torch.arange(len(all_matches)).to(valid.device)[valid]
        log_p = F.log_softmax(scores, dim=1)
        loss = -log_p[rows, all_matches[valid]]
        pred = scores.argmax(1)
        accuracy = (pred[valid] == all_matches[valid]).float().mean()
        return {"loss": loss.mean(), "accuracy": accuracy, "matches": pred}
