import torch
from torch import Tensor, nn, ones

from .base import RatioEstimator


class SNRE_A(RatioEstimator):
    """AALR: a classifier between joint and marginal samples."""

    def _loss(self, theta: Tensor, x: Tensor, num_atoms: int) -> Tensor:
        """Return the binary cross-entropy loss for the trained classifier."""
        assert theta.shape[0] == x.shape[0], "Batch sizes for theta and x must match."
        batch_size = theta.shape[0]

        logits = self._classifier_logits(theta, x, num_atoms=2)
        likelihood = torch.sigmoid(logits).squeeze()

        # Alternating pairs where there is one sampled from the joint and one from the marginals.
        labels = ones(2 * batch_size)  # two atoms
        labels[1::2] = 0.0
        labels = labels.to(self._device)

        # Binary cross entropy to learn the likelihood (AALR-specific)
        return nn.BCELoss()(likelihood, labels)
