import torch

from inference import SNRE_A


def simulator(theta):
    return theta + 1.0 + torch.randn_like(theta) * 0.1


if __name__ == "__main__":
    torch.manual_seed(0)
    prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    theta = prior.sample((60,))
    inference = SNRE_A(prior, device="gpu")
    inference.append_simulations(theta, simulator(theta)).train()
