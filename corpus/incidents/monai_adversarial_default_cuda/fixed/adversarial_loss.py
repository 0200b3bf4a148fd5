from __future__ import annotations

import torch
from torch.nn.modules.loss import _Loss


class PatchAdversarialLoss(_Loss):
    """Calculates an adversarial loss on a Patch Discriminator or a Multi-scale Patch Discriminator.

    Args:
        reduction: mean or sum.
        criterion: which criterion (least squares, hinge or bce) is used on the discriminators outputs.
    """

    def __init__(self, reduction: str = "mean", criterion: str = "least_squares") -> None:
        super().__init__(reduction=reduction)
        if criterion not in ("bce", "least_squares"):
            raise ValueError("Unrecognised criterion entered for Adversarial Loss: %s" % criterion)
        self.real_label = 1.0
        self.fake_label = 0.0
        self.loss_fct = torch.nn.BCEWithLogitsLoss(reduction=reduction) if criterion == "bce" else torch.nn.MSELoss()
        self.criterion = criterion

    def get_target_tensor(self, input: torch.Tensor, target_is_real: bool) -> torch.Tensor:
        """Gets the ground truth tensor for the discriminator."""
        filling_label = self.real_label if target_is_real else self.fake_label
        label_tensor = torch.tensor(1).fill_(filling_label).type(torch.float32)
        label_tensor = label_tensor.to(input.device)
        label_tensor.requires_grad_(False)
        return label_tensor.expand(input.shape)

    def forward(self, input: torch.Tensor | list, target_is_real: bool, for_discriminator: bool) -> torch.Tensor:
        if not for_discriminator:
            target_is_real = True
        if type(input) is not list:
            input = [input]
        target_ = []
        for disc_ind, disc_out in enumerate(input):
            target_.append(self.get_target_tensor(disc_out, target_is_real))
        loss = [self.loss_fct(out, target) for out, target in zip(input, target_)]
        return torch.mean(torch.stack(loss))
