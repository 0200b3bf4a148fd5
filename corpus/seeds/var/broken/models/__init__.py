from typing import Tuple

import torch.nn as nn

from .var import VAR
from .vqvae import VQVAE


def build_vae_var(device, V=16, Cvae=4, depth=1) -> Tuple[VQVAE, VAR]:
    # disable built-in initialization for speed
    for clz in (nn.Linear, nn.LayerNorm):
        assert hasattr(clz, 'reset_parameters')
    vae_local = VQVAE(vocab_size=V, z_channels=Cvae).to(device)
    var_wo_ddp = VAR(vae_local=vae_local, depth=depth, embed_dim=16).to(device)
    var_wo_ddp.init_weights()
    return vae_local, var_wo_ddp
