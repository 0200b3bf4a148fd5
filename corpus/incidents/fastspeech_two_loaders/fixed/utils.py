import os

import torch

import hparams as hp
from vocoder import Generator


def get_vocgan(ckpt_path):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    checkpoint = torch.load(ckpt_path, map_location=device)
    model = Generator()
    model.load_state_dict(checkpoint['model_g'])
    return model


def save_checkpoint(model, vocoder, step):
    os.makedirs(hp.checkpoint_path, exist_ok=True)
    torch.save({'model': model.state_dict()}, os.path.join(hp.checkpoint_path, 'checkpoint_{}.pth.tar'.format(step)))
    torch.save({'model_g': vocoder.state_dict()}, os.path.join(hp.checkpoint_path, hp.vocoder_pretrained_model_name))
