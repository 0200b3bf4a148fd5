from typing import List, Optional

import torch
from torch import nn


class PerceptualLoss(nn.Module):
    """
    Distance of two images in the features of a network, and optionally in their style.
    """

    def __init__(
        self,
        device: str = "cpu",
        in_channels: int = 3,
        feature_layer_ids: Optional[List[int]] = None,
        alpha_feature: float = 1.0,
        alpha_style: float = 0.0,
    ) -> None:
        super().__init__()
        self.device = device
        self.in_channels = in_channels
        self.feature_layer_ids = [1, 3] if feature_layer_ids is None else feature_layer_ids
        self.alpha_feature = alpha_feature
        self.alpha_style = alpha_style
        self._set_blocks()

    def _set_blocks(self) -> None:
        layers = [nn.Conv2d(self.in_channels, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1), nn.ReLU()]
        self.network = nn.Sequential(*layers).to(self.device).eval()
        for param in self.network.parameters():
            param.requires_grad = False

    def compute_features(self, x: torch.Tensor) -> List[torch.Tensor]:
        features = []
        for n, layer in enumerate(self.network):
            x = layer(x)
            if n in self.feature_layer_ids:
                features.append(x)
        return features

    @staticmethod
    def gram(x: torch.Tensor) -> torch.Tensor:
        x = x.flatten(2)
        return x @ x.transpose(1, 2) / x.shape[-1]

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        self.network.to(input.device)
        loss = torch.zeros(1, device=input.device)
        for x, y in zip(self.compute_features(input), self.compute_features(target)):
            loss = loss + self.alpha_feature * nn.functional.l1_loss(x, y)
            if self.alpha_style:
                loss = loss + self.alpha_style * nn.functional.l1_loss(self.gram(x), self.gram(y))
        return loss.squeeze()
