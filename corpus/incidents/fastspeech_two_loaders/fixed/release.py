import torch

import hparams as hp
import utils
from fastspeech2 import FastSpeech2
from vocoder import Generator

torch.manual_seed(hp.seed)
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
utils.save_checkpoint(FastSpeech2().to(device), Generator().to(device), 200)
