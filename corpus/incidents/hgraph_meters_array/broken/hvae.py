import torch
import torch.nn as nn


def make_cuda(tensor):
    return tensor.cuda() if torch.cuda.is_available() else tensor


def get_accuracy(scores, labels):
    return torch.eq(scores.gt(0).float(), labels).float().mean()


class HierVAE(nn.Module):

    def __init__(self, args):
        super(HierVAE, self).__init__()
        self.encoder = nn.Sequential(nn.Linear(10, args.hidden_size), nn.ReLU())
        self.R_mean = nn.Linear(args.hidden_size, args.latent_size)
        self.R_var = nn.Linear(args.hidden_size, args.latent_size)
        self.decoder = nn.Linear(args.latent_size, 10)

    def rsample(self, z_vecs, perturb=True):
        z_mean = self.R_mean(z_vecs)
        z_log_var = -torch.abs(self.R_var(z_vecs))
        kl_loss = -0.5 * torch.sum(1.0 + z_log_var - z_mean * z_mean - torch.exp(z_log_var)) / z_vecs.size(0)
        epsilon = torch.randn_like(z_mean) if perturb else torch.zeros_like(z_mean)
        return z_mean + torch.exp(z_log_var / 2) * epsilon, kl_loss

    def forward(self, graphs, beta):
        root_vecs, root_kl = self.rsample(self.encoder(graphs))
        scores = self.decoder(root_vecs)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, graphs) * graphs.size(1)
        accs = [get_accuracy(part, label) for part, label in zip(scores.split([4, 2, 2, 2], 1), graphs.split([4, 2, 2, 2], 1))]
        return loss + beta * root_kl, root_kl.item(), accs[0], accs[1], accs[2], accs[3]
