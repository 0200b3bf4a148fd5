import torch
from networks.deep_sdf_decoder import Decoder
from reconstruct import reconstruct

torch.manual_seed(0)
decoder = Decoder(8, [16, 16], norm_layers=[0, 1], latent_in=[1], weight_norm=True).cuda()
samples = [torch.rand(40, 4), -torch.rand(40, 4)]
error, latent = reconstruct(decoder, 4, 8, samples, 0.01, 0.1, num_samples=16, lr=5e-3, l2reg=True)
print(error.item(), latent.norm().item())
