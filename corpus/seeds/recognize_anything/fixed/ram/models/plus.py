import numpy as np
import torch
from torch import nn

from .losses import AsymmetricLoss

TAGS = np.array(["dog", "tree", "car", "sky", "boat"])


class VisualEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, kernel_size=4, stride=4)
        self.norm = nn.LayerNorm(dim)

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        return self.norm(x)


class RAMPlus(nn.Module):
    def __init__(self, dim=16, num_class=5):
        super().__init__()
        self.visual_encoder = VisualEncoder(dim)
        self.label_embed = nn.Parameter(torch.randn(num_class, dim) * 0.1)
        self.text_proj = nn.Linear(dim, dim)
        self.fc = nn.Linear(dim, 1)
        self.tagging_loss_function = AsymmetricLoss(gamma_neg=7, gamma_pos=0, clip=0.05)

    def text_of_tags(self, parse_tag):
        parse_tag = parse_tag.cpu().numpy()
        return [" | ".join(TAGS[np.argwhere(row == 1)[:, 0]]) for row in parse_tag]

    def forward(self, image, caption, image_tag, image_feat_224, parse_tag):
        image_embeds = self.visual_encoder(image)
        attn = torch.softmax(self.label_embed @ image_embeds.transpose(1, 2), dim=-1)
        tag_feat = attn @ image_embeds
        logits = self.fc(self.text_proj(tag_feat)).squeeze(-1)
        loss_tag = self.tagging_loss_function(logits, image_tag)

        # caption branch: the texts only tell how much this sample counts
        texts = self.text_of_tags(parse_tag)
        weight = sum(t in c for t, c in zip(texts, caption)) / len(caption)

        loss_dis = (image_embeds.mean(1) - image_feat_224).abs().mean()
        return loss_tag, weight * loss_dis


class TagBase(RAMPlus):
    def forward(self, image, image_tag):
        embeds = self.visual_encoder(image)
        attn = torch.softmax(self.label_embed @ embeds.transpose(1, 2), dim=-1)
        return self.tagging_loss_function(self.fc(attn @ embeds).squeeze(-1), image_tag)


def ram_plus(num_class):
    return RAMPlus(num_class=num_class)


def tag_base(num_class):
    return TagBase(num_class=num_class)
