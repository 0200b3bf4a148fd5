"""Another name of the divergence."""

from torch.distributions import kl_divergence as kl_divergence
