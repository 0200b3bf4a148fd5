import torch
import torch.nn as nn


class AffordNet(nn.Module):
    def __init__(self, emb_dim):
        super(AffordNet, self).__init__()
        self.img_encoder = nn.Sequential(nn.Conv2d(3, emb_dim, 3, stride=2), nn.ReLU())
        self.point_encoder = nn.Sequential(nn.Conv1d(3, emb_dim, 1), nn.ReLU())
        self.out_head = nn.Linear(2 * emb_dim, 1)

    def forward(self, img, xyz):
        F_I = self.img_encoder(img).flatten(2).mean(-1)
        F_p = self.point_encoder(xyz).transpose(1, 2)
        joint = torch.cat([F_p, F_I[:, None].expand(-1, F_p.shape[1], -1)], dim=-1)
        return torch.sigmoid(self.out_head(joint))


def get_affordnet(**kwargs):
    return AffordNet(**kwargs)
