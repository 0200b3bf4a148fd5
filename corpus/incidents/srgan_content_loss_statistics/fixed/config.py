import random

import numpy as np
import torch

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
upscale_factor = 2
epochs = 2
pixel_weight = 0.01
content_weight = 1.0
adversarial_weight = 0.001
