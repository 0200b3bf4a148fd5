import argparse
import os

import torch
import torch.nn as nn

import hparams as hp
import utils
from fastspeech2 import FastSpeech2

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


def get_FastSpeech2(num):
    checkpoint_path = os.path.join(hp.checkpoint_path, "checkpoint_{}.pth.tar".format(num))
    model = FastSpeech2()
    model.load_state_dict(torch.load(checkpoint_path, map_location=device)['model'])
    model.requires_grad_(False)
    model.eval()
    return model


def main(args):
    torch.manual_seed(hp.seed)
    model = get_FastSpeech2(args.step).to(device)
    vocoder = utils.get_vocgan(os.path.join(hp.checkpoint_path, hp.vocoder_pretrained_model_name)).to(device)
    optimizer = torch.optim.Adam(vocoder.parameters(), lr=1e-3, betas=(0.5, 0.9))

    for step in range(4):
        text = torch.randint(hp.n_symbols, (2, 5)).to(device)
        wav = torch.sin(torch.arange(5 * 2 * hp.hop_length).float() / (2 + step)).expand(2, 1, -1).to(device)
        mel = model(text, 2)
        wav_g = vocoder(mel.transpose(1, 2))
        loss = nn.functional.l1_loss(wav_g, wav)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print('step {}: {:.4f}'.format(step, loss.item()))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--step', type=int, default=30000)
    main(parser.parse_args())
